"""The page of `sb page` in a browser: what it answers, how fast it is, and that anyone can read it.

  page_test.py SB MAKE_PAGES [PICTURES]

With a folder PICTURES, writes the pictures of docs/see-it.md there.
"""

import os
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

from browser import Browser, Keys
import pixels

FOLDER = tempfile.mkdtemp()
SB, MAKE_PAGES = (os.path.abspath(path) for path in sys.argv[1:3])
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "contrast.js")) as script:
    CONTRAST = script.read()
PICTURES = sys.argv[3] if len(sys.argv) > 3 else None


def path(name):
    return os.path.join(FOLDER, name)


def make_pages():
    subprocess.run([MAKE_PAGES, FOLDER], check=True)
    for name, recordings in {"tables": [], "train": ["train.sbr"], "two": ["train.sbr", "faulty.sbr"],
                             "million": ["million.sbr"]}.items():
        subprocess.run([SB, "page", *(path(r) for r in recordings), "-o", path(name + ".html")], check=True,
                       stdout=subprocess.DEVNULL)


class Page(unittest.TestCase):
    """One window for all tests of a class."""
    size = (1280, 800)
    dark = False

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(*cls.size, dark=cls.dark)

    @classmethod
    def tearDownClass(cls):
        cls.browser.driver.quit()

    def open(self, name, shown=""):
        took = self.browser.open(path(name + ".html"), shown)
        self.assertEqual(self.browser.problems(), [])
        return took


class Opening(Page):
    def test_it_opens_within_a_second(self):
        for name in ("tables", "train"):
            took = min(self.open(name) for _ in range(3))
            print(f"{name}.html: {os.path.getsize(path(name + '.html')):,} bytes, usable after {took:.0f} ms")
            self.assertLess(took, 1000)

    def test_it_takes_at_most_two_megabytes(self):
        self.assertLessEqual(os.path.getsize(path("tables.html")), 2_000_000)

    def test_it_asks_for_nothing(self):
        self.open("train", "view=memory")
        self.browser.click("#tab-tables")
        self.browser.click("#tab-calls")
        for url in self.browser.requests():
            self.assertRegex(url, r"^(file:///.*\.html|about:|data:)")

    def test_names_from_outside_stay_names(self):
        self.browser.open(path("hostile.html"))
        self.assertEqual(self.browser.run("return document.title"), "Switchboard")
        names = self.browser.run("return [...document.querySelectorAll('.row')].map((row) => row.dataset.op)")
        self.assertEqual(len(names), 8)
        self.assertIn("demo::</script><script>document.title='broken'</script>", names)
        for row in self.browser.all(".row"):
            row.click()
        self.assertEqual(self.browser.run("return document.title"), "Switchboard")
        self.assertEqual(self.browser.run("return document.images.length"), 0)
        self.assertIn("is no recording", self.browser.text("#notice"))
        self.browser.problems()


class Questions(Page):
    """What people ask, answered by clicks alone."""

    def test_which_kernel_serves_an_operator_at_a_key(self):
        self.open("tables")
        self.browser.click("#search")
        self.browser.keys("aten::addmm")
        row = self.browser.find('.row[data-op="aten::addmm"]')
        row.find_element("css selector", '[aria-label^="CPU:"]').click()
        answer = self.browser.text("#details .answer")
        self.assertIn("At CPU", answer)
        self.assertIn("A kernel is registered at this very key.", answer)
        self.assertIn("ops/products/matmul.cc:", answer)

    def test_why_did_this_go_to_the_cpu(self):
        self.open("train", "view=calls")
        self.browser.click("#search")
        self.browser.keys("addmm dummy", Keys.ENTER, Keys.ENTER)  # at AutogradDummy, then at dummy
        answer = self.browser.text("#details")
        self.assertIn("The operator has no kernel here, so the fallback of this key runs", answer)
        self.assertIn("devices/dummy/", answer)
        self.assertIn("CPU · ops/products/matmul.cc:", answer)
        # And to the cell, which says the same.
        self.browser.click("#to-cell")
        self.assertEqual(self.browser.shown()["op"], "aten::addmm")
        self.assertEqual(self.browser.text("#tab-tables[aria-selected=true]"), "Tables")

    def test_which_kernel_allocated_the_peak(self):
        self.open("train")
        self.browser.click("#tab-memory")
        self.browser.click("#peak")
        self.assertIn("its peak", self.browser.text("#details .answer"))
        self.browser.click("#to-maker")
        self.assertEqual(self.browser.shown()["view"], "calls")
        self.assertIn("kernel", self.browser.text("#details .answer"))

    def test_where_do_these_two_runs_part(self):
        self.open("train", "view=calls")
        self.browser.find("#file").send_keys(path("faulty.sbr"))
        self.browser.wait("document.querySelector('#notice').innerText.includes('First difference')")
        notice = self.browser.text("#notice")
        self.assertIn("demo::brighten at CPU", notice)
        self.assertIn("its results have other bits, from the same inputs", notice)
        self.browser.click('[data-go="1"]')
        self.assertIn("First difference", self.browser.text("#details"))

    def test_the_same_run_twice_has_no_difference(self):
        self.open("train", "view=calls")
        self.browser.find("#file").send_keys(path("train.sbr"))
        self.browser.wait("document.querySelector('#notice').innerText.includes('The two runs are the same')")

    def test_where_did_the_time_go(self):
        self.open("train")
        self.browser.click("#tab-calls")
        self.assertIn("Where the time went", self.browser.text("#details"))
        self.browser.click("#details .line")
        self.assertIn("How it came here", self.browser.text("#details"))

    def test_a_call_is_found_by_clicking_it(self):
        self.open("train", "view=calls&from=0&to=200000")
        found = self.browser.run("""
            const canvas = document.querySelectorAll('#calls canvas')[1], box = canvas.getBoundingClientRect();
            return [box.width, box.height]""")
        for x in range(20, int(found[0]), 40):
            self.browser.click_at("#calls .chart:last-child canvas", x, 24 + 24 + 10)
            if "call" in self.browser.shown():
                break
        self.assertIn("How it came here", self.browser.text("#details"))

    def test_two_calls_of_the_reader_are_one_link(self):
        self.open("tables", "op=aten%3A%3Amm&key=CPU&q=mm")
        self.assertIn("At CPU", self.browser.text("#details"))
        self.assertEqual(self.browser.run("return document.querySelector('#search').value"), "mm")
        self.browser.click("#tab-calls")
        self.browser.driver.back()
        self.assertEqual(self.browser.text("[role=tab][aria-selected=true]"), "Tables")


class Filters(Page):
    def rows(self):
        return int(self.browser.run("return document.querySelector('.grid').getAttribute('aria-rowcount')")) - 1

    def test_by_name_key_and_kind(self):
        self.open("tables")
        everything = self.rows()
        self.assertGreater(everything, 2000)
        self.browser.click("#search")
        self.browser.keys("softmax")
        by_name = self.rows()
        self.assertTrue(0 < by_name < 100)
        self.browser.click('.key[title^="CPU:"]')
        by_key = self.rows()
        self.assertTrue(0 < by_key <= by_name)
        self.browser.click('.chip[data-kind="kernel"]')
        self.assertTrue(0 < self.rows() <= by_key)

    def test_all_keys_are_there_when_asked_for(self):
        self.open("tables")
        before = len(self.browser.all(".key"))
        self.browser.click('.choice [data-value="all"]')
        self.assertGreater(len(self.browser.all(".key")), max(before, 130))

    def test_rows_are_made_as_they_come_into_view(self):
        self.open("tables")
        self.assertLess(len(self.browser.all(".row")), 60)
        self.browser.run("document.querySelector('.grid').scrollTop = 22 * 2000")
        self.browser.wait("[...document.querySelectorAll('.row')].some((row) => Number(row.dataset.row) === 2000)")
        self.assertLess(len(self.browser.all(".row")), 60)


class Keyboard(Page):
    def test_the_keyboard_reaches_everything(self):
        self.open("train")
        self.browser.keys("/")
        self.browser.keys("relu", Keys.ENTER)
        first = self.browser.shown()
        self.assertIn("relu", first["op"])
        self.browser.keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
        then = self.browser.shown()
        self.assertNotEqual((first["op"], first["key"]), (then["op"], then["key"]))
        self.assertIn(then["op"], self.browser.run("return document.querySelector('#live').textContent"))
        self.browser.keys(Keys.ESCAPE)
        self.assertEqual(self.browser.text("#details"), "")
        self.browser.keys("2")
        self.assertEqual(self.browser.text("[role=tab][aria-selected=true]"), "Calls")
        self.browser.run("document.querySelector('#calls .chart:last-child canvas').focus()")
        self.browser.keys(Keys.ARROW_RIGHT)
        self.browser.keys(Keys.ARROW_DOWN)
        self.assertIn("call", self.browser.shown())
        self.browser.keys("w", "w", "d")
        time.sleep(0.5)
        self.assertIn("from", self.browser.shown())
        self.browser.keys("t")
        self.assertEqual(self.browser.run("return document.documentElement.dataset.theme"), "dark")
        self.browser.keys("t", "?")
        self.assertTrue(self.browser.run("return document.querySelector('dialog').open"))


class Speed(Page):
    def test_a_million_kernels_move_and_zoom_within_a_frame(self):
        self.browser.open(path("million.html"), "view=calls")
        for view, canvas in (("calls", "#calls .chart:last-child canvas"), ("memory", "#memory canvas")):
            self.browser.click(f"#tab-{view}")
            time.sleep(1)
            times = self.browser.driver.execute_async_script("""
                const canvas = document.querySelector(arguments[0]), done = arguments[1], box = canvas.getBoundingClientRect();
                const wheel = (x, dx, dy) => canvas.dispatchEvent(new WheelEvent('wheel', {
                  clientX: box.left + x, clientY: box.top + 60, deltaX: dx, deltaY: dy, bubbles: true, cancelable: true}));
                let step = 0;
                window.frameTimes.length = 0;
                const next = () => {
                  if (step === 240) return setTimeout(() => done(window.frameTimes.filter((t) => t > 0.05)), 50);
                  ++step;
                  if (step <= 80) wheel(box.width / 3, 0, -60);       // in
                  else if (step <= 160) wheel(0, 40, 0);              // along
                  else wheel(box.width / 2, 0, 60);                   // out
                  setTimeout(next, 0);
                };
                next();""", canvas)
            times.sort()
            median, late, worst = times[len(times) // 2], times[int(len(times) * 0.95)], times[-1]
            print(f"{view}: {len(times)} frames over a million kernels: median {median:.1f} ms, 95 % within {late:.1f} ms, worst {worst:.1f} ms")
            self.assertGreater(len(times), 30)
            self.assertLess(late, 16)


class Reading(Page):
    """Contrast as WCAG 2.1 AA asks for it, of every text that is shown."""

    def check(self, where):
        for theme in ("light", "dark"):
            if self.browser.run("return document.documentElement.dataset.theme") != theme:
                self.browser.click("#theme")
            time.sleep(0.2)  # colours change over a moment
            low = self.browser.run(CONTRAST)
            self.assertEqual(low, [], f"{where}, {theme}")

    def test_tables(self):
        self.open("tables", "op=aten%3A%3Aadd.Tensor&key=CPU")
        self.check("tables")

    def test_calls(self):
        self.open("two", "view=calls&call=5")
        self.check("calls")

    def test_memory(self):
        self.open("train", "view=memory")
        self.check("memory")
        self.browser.click("#peak")
        self.check("a storage")


class Narrow(Page):
    size = (390, 844)

    def test_nothing_is_wider_than_a_telephone(self):
        for shown in ("", "op=aten%3A%3Aadd.Tensor&key=CPU", "view=calls", "view=calls&call=3", "view=memory"):
            self.open("train", shown)
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 390, shown)
            for selector in ("#search", "#theme", "[role=tab]"):
                box = self.browser.run("const b = document.querySelector(arguments[0]).getBoundingClientRect(); return [b.left, b.right]", selector)
                self.assertTrue(0 <= box[0] and box[1] <= 390, selector)


class Looks(Page):
    """What a picture of each view shows, in a way that fonts do not change."""

    def picture(self, name):
        target = os.path.join(PICTURES or FOLDER, name + ".png")
        self.browser.picture(target)
        return pixels.read(target)

    def test_views(self):
        for name, page, shown in (("tables", "train", "op=aten%3A%3Aaddmm&key=AutogradCPU&q=mm"), ("calls", "train", "view=calls&from=0&to=1300000"),
                                  ("memory", "train", "view=memory"), ("two-runs", "two", "view=calls")):
            self.open(page, shown)
            if self.browser.run("return document.documentElement.dataset.theme") != "light":
                self.browser.click("#theme")
            if name == "two-runs":
                self.browser.click('[data-go="0"]')
            if name == "calls":
                self.browser.keys("/")
                self.browser.keys("addmm dummy", Keys.ENTER, Keys.ENTER, Keys.ESCAPE)
            image = self.picture(name)
            self.assertEqual((image.width, image.height), self.size)
            colours = image.shares()
            expected = self.browser.run("""
                const style = getComputedStyle(document.documentElement);
                return ['--paper', '--surface', '--kernel', '--fallback', '--autograd', '--accent-soft'].map((c) => style.getPropertyValue(c).trim())""")
            paper, surface, kernel, fallback, autograd, soft = (colours.get(c, 0) for c in expected)
            self.assertGreater(paper + surface, 0.4, name)   # calm: most of it is paper
            self.assertGreater(kernel, 0.002, name)          # and the rules have their colours
            if name != "memory":
                self.assertGreater(autograd, 0.001, name)
                self.assertGreater(fallback, 0.0003, name)
            else:
                self.assertGreater(soft, 0.02, name)         # the area of the total
            self.open(page, shown)
            self.browser.click("#theme")
            image = self.picture(name + "-dark")
            self.assertLess(image.brightness(), 0.25, name)
            self.browser.click("#theme")


if __name__ == "__main__":
    try:
        make_pages()
    except subprocess.CalledProcessError:
        traceback.print_exc()
        sys.exit(1)
    unittest.main(argv=sys.argv[:1], verbosity=2)
