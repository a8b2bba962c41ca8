// Lines of Vowpal Wabbit -> rows:
//
//   [label [importance [base]]] [tag]|[namespace[:scale]] feature[:value] feature[:value] ... |namespace ...
//
// A feature's name is namespace^feature, or just feature if the namespace has no name. The default value is 1; values
// are multiplied by their namespace's scale. The tag is the last word if it starts with an apostrophe or touches the
// bar, so that "1|" has a tag and no label, as in Vowpal Wabbit. Tag and base are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "readers/row_reader.h"

namespace markone {

class vw_reader : public row_reader<word_table> {
  public:
    void read(std::string_view line, labelled_rows& rows) {
        const char* const end = line.data() + line.size();
        const char* at = skip_blanks(line.data(), end);
        if (at == end) return;
        const std::size_t bar = line.find('|');
        if (bar == line.npos) refuse(line, "there is no bar before the features in ", "");
        const auto [label, importance] = read_head(line.substr(0, bar));
        pieces.clear();
        names.clear();
        for (at = line.data() + bar; at != end;) at = read_namespace(at + 1, end);
        begin_row(line, pieces);
        std::size_t begin = 0;
        for (const piece& one : pieces) {
            add(one.value, std::string_view(names).substr(begin, one.end - begin), one.hash);
            begin = one.end;
        }
        end_row(label, rows);
        rows.importance.push_back(importance);
    }

  private:
    struct head {
        std::string_view label;
        double importance;
    };
    struct piece {
        std::size_t end;  // of its name, which begins where the last one ends
        std::uint64_t hash;
        double value;
    };

    head read_head(std::string_view text) {
        const char* const end = text.data() + text.size();
        words.clear();
        for (const char* at = skip_blanks(text.data(), end); at != end; at = skip_blanks(at, end)) {
            const char* const begin = at;
            while (at != end && !is_blank(*at)) ++at;
            words.push_back(between(begin, at));
        }
        if (!words.empty() && (words.back().starts_with('\'') || !is_blank(text.back()))) words.pop_back();
        if (words.empty()) return {{}, 1};
        const std::string_view label = words[0];
        if (label.starts_with('\'')) refuse(label, "the tag ", " is not the last word before the bar");
        if (label.find(':') != label.npos) refuse(label, "the label ", " has costs, which are not supported");
        const double importance = words.size() > 1 ? number(words[1], "the importance ") : 1;
        if (importance < 0) refuse(words[1], "the importance ", " is negative");
        if (words.size() > 2) number(words[2], "the base ");
        if (words.size() > 3) refuse(words[3], "", " before the bar is no label, importance, base or tag");
        return {label, importance};
    }

    // Reads a namespace from after its bar; returns the next bar, or the end.
    const char* read_namespace(const char* at, const char* end) {
        const std::string_view space = read_name(at, end);
        double scale = 1;
        if (at != end && *at == ':') {
            if (space.empty()) refuse(read_value(at, end), "the scale ", " has no namespace before it");
            scale = number(read_value(at, end), "the scale ");
        }
        for (;;) {
            at = skip_blanks(at, end);
            if (at == end || *at == '|') return at;
            const std::string_view feature = read_name(at, end);
            double value = 1;
            if (at != end && *at == ':') {
                if (feature.empty()) refuse(read_value(at, end), "the value ", " has no feature before it");
                const char* const stop = read_short_number(at + 1, end, value);
                if (stop != nullptr && ends_value(stop, end))
                    at = stop;
                else
                    value = number(read_value(at, end), "the value ");
            }
            value *= scale;
            if (!fits(value)) refuse(feature, "the value of ", " is too large");
            const std::size_t begin = names.size();
            if (!space.empty()) names.append(space).append(1, '^');
            names.append(feature);
            pieces.push_back({names.size(), features.expect(std::string_view(names).substr(begin)), value});
        }
    }

    static bool ends_value(const char* at, const char* end) { return at == end || is_blank(*at) || *at == '|'; }

    static std::string_view read_name(const char*& at, const char* end) {
        const char* const begin = at;
        while (!ends_value(at, end) && *at != ':') ++at;
        return between(begin, at);
    }

    // Reads a value from its colon.
    static std::string_view read_value(const char*& at, const char* end) {
        const char* const begin = at + 1;
        for (at = begin; !ends_value(at, end);) ++at;
        return between(begin, at);
    }

    // Of the current line:
    std::vector<std::string_view> words;  // before the bar
    std::vector<piece> pieces;
    std::string names;  // one after the other
};

}  // namespace markone
