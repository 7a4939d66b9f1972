#include "switchboard/tests/questions/page.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <tuple>
#include <vector>

#include "switchboard/core/str_cat.h"
#include "switchboard/tests/questions/question.h"

namespace sb::questions {
namespace {

constexpr size_t kColumns = 120;

// "Stacked kernels" for ".../stacked_kernels.cc".
std::string theme_of(const Question& q) {
  std::string_view file = q.where.file_name();
  file.remove_prefix(file.rfind('/') + 1);
  std::string theme(file.substr(0, file.rfind('.')));
  std::replace(theme.begin(), theme.end(), '_', ' ');
  theme[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(theme[0])));
  return theme;
}

// The words in lines: the first begins with `first`, the others with `indent`.
std::string wrapped(std::string_view first, std::string_view indent, std::string_view text) {
  std::string lines, line(first), space;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word; space = " ") {
    if (line.size() + space.size() + word.size() > kColumns) {
      lines += line + "\n";
      line = indent;
      space.clear();
    }
    line += space + word;
  }
  return lines + line + "\n";
}

std::string paragraph(size_t number, const Question& q) {
  std::string text = wrapped(str_cat("**", number, ".** "), "", q.asked) + "\n";
  const auto answer = [&](std::string_view whose, std::string_view said) {
    text += wrapped(str_cat("- ", whose, ": "), "  ", said);
  };
  if (!q.answers.both.empty()) {
    answer("Both", q.answers.both);
  } else {
    answer("PyTorch", q.answers.pytorch);
    answer("Here", q.answers.here);
    answer("Better", q.answers.better);
  }
  return text + "\n";
}

}  // namespace

std::string make_page() {
  std::vector<Question> questions = all_questions();
  std::sort(questions.begin(), questions.end(), [](const Question& a, const Question& b) {
    return std::tuple(theme_of(a), a.where.line()) < std::tuple(theme_of(b), b.where.line());
  });
  const auto alike = std::count_if(questions.begin(), questions.end(),
                                   [](const Question& q) { return !q.answers.both.empty(); });
  std::string text = str_cat("# Tricky questions, and two answers to each\n\n",
                             wrapped("", "",
                                     str_cat("What happens where two features meet, or where "
                                             "somebody errs: ",
                                             questions.size(),
                                             " questions that were put to PyTorch 2.14.1 and to "
                                             "Switchboard. In ",
                                             alike,
                                             " the answers are alike; where they differ, the page "
                                             "says why ours is better. Each question is a test in "
                                             "`tests/questions/`, which proves our answer, and "
                                             "this page is made of them:")),
                             "\n    ./bazelw run //tests/questions:write_page\n\n");
  std::string theme;
  size_t number = 0;
  for (const Question& q : questions) {
    if (theme != theme_of(q)) text += str_cat("## ", theme = theme_of(q), "\n\n");
    text += paragraph(++number, q);
  }
  text.pop_back();  // the empty line at the end
  return text;
}

}  // namespace sb::questions
