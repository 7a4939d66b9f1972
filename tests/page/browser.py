"""Debian's Chromium, without a window, and the few things that the tests do with it."""

import json
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

# Seen by the page before its own scripts: how long each of its frames kept the main thread.
WATCH_FRAMES = """
  window.frameTimes = [];
  const plain = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) => plain((time) => {
    const begin = performance.now();
    callback(time);
    window.frameTimes.push(performance.now() - begin);
  });
"""


class Browser:
    def __init__(self, width=1280, height=800, dark=False):
        options = Options()
        for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking",
                     f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_script_timeout(120)
        self.command("Emulation.setDeviceMetricsOverride",
                     width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.command("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH_FRAMES)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, seconds=60):
        end = time.time() + seconds
        while time.time() < end:
            value = self.run(f"return {script}")
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"after {seconds} s still not: {script}")

    def open(self, path, shown=""):
        """Opens the page; gives the milliseconds until it can be used."""
        self.driver.get("about:blank")
        self.driver.get(f"file://{path}#{shown}")
        self.wait("document.documentElement.dataset.ready")
        return self.run("return performance.getEntriesByName('ready')[0].startTime")

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText || ''", selector)

    def click(self, selector):
        self.find(selector).click()

    def click_at(self, selector, x, y):
        """Clicks a point of an element, from its left upper corner."""
        box = self.run("const b = document.querySelector(arguments[0]).getBoundingClientRect(); return [b.left, b.top]", selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=box[0] + x, y=box[1] + y,
                         button="left", buttons=1 if kind == "mousePressed" else 0, clickCount=1)

    def keys(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def shown(self):
        """What the URL keeps."""
        return self.run("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")

    def problems(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        urls = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        return urls

    def picture(self, path):
        self.run("return document.activeElement && document.activeElement.blur()")
        time.sleep(0.3)
        self.driver.save_screenshot(path)


__all__ = ["Browser", "Keys"]
