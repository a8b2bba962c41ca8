// Lines with a label and a text: those of fastText, and those with a tab between label and text. The texts stay in
// the chunk, and are tokenised elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "readers/lines.h"

namespace markone {

struct labelled_texts {
    std::vector<std::int32_t> labels;
    std::vector<std::int64_t> starts, ends;  // in the chunk

    void add(std::int32_t label, std::string_view text, const char* chunk) {
        labels.push_back(label);
        starts.push_back(text.data() - chunk);
        ends.push_back(text.data() + text.size() - chunk);
    }
};

// __label__spam free money. A line without a label is only a text. If a line may have several labels, all of them are
// one name in the table, as they are written: spam __label__urgent.
class fasttext_reader {
  public:
    word_table labels;
    bool several = false;

    void read(std::string_view line, const char* chunk, labelled_texts& texts) {
        constexpr std::string_view prefix = "__label__";
        const char* const end = line.data() + line.size();
        const char* const begin = skip_blanks(line.data(), end);
        std::string_view label, text = line;
        if (between(begin, end).starts_with(prefix)) {
            const char* next = begin;
            do {
                const std::string_view word = word_at(next, end);
                if (word == prefix) refuse(word, "there is nothing after ", "");
                const char* const behind = word.data() + word.size();
                label = between(begin, behind);
                next = skip_blanks(behind, end);
            } while (several && between(next, end).starts_with(prefix));
            text = between(next, end);
        }
        for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, at + 1)) {
            if (at > 0 && !is_blank(text[at - 1])) continue;
            const std::string_view other = word_at(text.data() + at, end);
            if (several || label.empty()) refuse(other, "the label ", " is not at the start of its line");
            refuse(other, "the line has a second label, ", "");
        }
        if (!label.empty()) label.remove_prefix(prefix.size());
        texts.add(label.empty() ? unlabelled : number_of_label(label, labels), text, chunk);
    }

  private:
    static std::string_view word_at(const char* begin, const char* end) {
        const char* at = begin;
        while (at != end && !is_blank(*at)) ++at;
        return between(begin, at);
    }
};

// spam<tab>free money. There are no quotes: the text always ends with the line. A line that starts with
// the tab has no label; an empty line is skipped.
class tab_reader {
  public:
    word_table labels;

    void read(std::string_view line, const char* chunk, labelled_texts& texts) {
        if (line.empty()) return;
        const std::size_t tab = line.find('\t');
        if (tab == line.npos) refuse(line, "there is no tab between label and text in ", "");
        const std::string_view label = line.substr(0, tab);
        texts.add(label.empty() ? unlabelled : number_of_label(label, labels), line.substr(tab + 1), chunk);
    }
};

}  // namespace markone
