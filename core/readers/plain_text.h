// Plain text -> sentences of words, by a few rules, for scripts with blanks between words, and with the short forms
// of English. Bytes that are not UTF-8 separate words like a blank.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "readers/columns.h"
#include "text/text.h"

namespace markone {

class text_cutter {
  public:
    // With `lines`, each line is at least one sentence; else only blank lines end sentences.
    text_cutter(std::string_view text, bool lines) : text(text), lines(lines) {}

    // The columns are the words and, as in CoNLL-U's last column, whether a blank follows each.
    sentences_read cut() {
        const std::size_t size = text.size();
        for (std::size_t at = 0; at < size;) {
            std::size_t breaks = 0;
            while (at < size && kind_at(at) == characters::gap) {
                breaks += text[at] == '\n';
                at = behind(at);
            }
            if (breaks > (lines ? 0u : 1u)) finish();
            const std::size_t begin = at;
            while (at < size && kind_at(at) != characters::gap) at = behind(at);
            cut_piece(begin, at);
        }
        finish();
        return found();
    }

  private:
    // ---- characters

    bool is_ascii(std::size_t at) const { return static_cast<unsigned char>(text[at]) < 0x80; }
    std::uint32_t point_at(std::size_t at) const {
        if (at >= text.size()) return characters::none;
        if (is_ascii(at)) return static_cast<unsigned char>(text[at]);
        const char* from = text.data() + at;
        return characters::decode(from, text.data() + text.size());
    }
    std::size_t behind(std::size_t at) const {
        if (is_ascii(at)) return at + 1;
        const char* from = text.data() + at;
        characters::decode(from, text.data() + text.size());
        return static_cast<std::size_t>(from - text.data());
    }
    characters::kind kind_at(std::size_t at) const { return all.of(point_at(at)); }
    bool is_word(std::size_t at) const { return at < text.size() && kind_at(at) == characters::word; }
    bool is_digit(std::size_t at) const { return at < text.size() && text[at] >= '0' && text[at] <= '9'; }

    static bool is_one_of(std::uint32_t point, std::u32string_view points) {
        return points.find(static_cast<char32_t>(point)) != points.npos;
    }
    static bool is_apostrophe(std::uint32_t point) { return is_one_of(point, U"'’"); }
    static bool is_closing(std::uint32_t point) { return is_one_of(point, U"\"'”’»)]}」』"); }
    static bool ends_a_sentence(std::uint32_t point) { return is_one_of(point, U".!?…。！？؟۔।"); }
    static bool needs_no_blank(std::uint32_t point) { return is_one_of(point, U"。！？"); }
    // An upper-case letter of Latin, Greek, Cyrillic or Armenian.
    static bool is_small_letter(std::uint32_t point) {
        return (point >= 'a' && point <= 'z') || (point >= 0xdf && point < 0x590 && !characters::is_capital(point) &&
                                                  characters::all().of(point) == characters::word);
    }

    // ---- words

    // A piece has no blanks in it.
    void cut_piece(std::size_t at, std::size_t end) {
        if (is_address(text.substr(at, end - at))) {
            std::size_t last = end;
            while (last > at + 1 && std::string_view(".,;:!?)]}'\"").find(text[last - 1]) != std::string_view::npos)
                --last;
            add(at, last);
            at = last;
        }
        while (at < end) {
            std::size_t next = behind(at);
            if (kind_at(at) == characters::word) {
                next = end_of_word(at, end);
                add_word(at, next);
            } else {
                const std::uint32_t sign = point_at(at);
                while (next < end && point_at(next) == sign && is_one_of(sign, U".!?…-=*_~")) next = behind(next);
                add(at, next);
            }
            at = next;
        }
    }

    // An address of the web or of mail.
    static bool is_address(std::string_view piece) {
        const std::size_t at = piece.find('@');
        const auto plain = [&](std::size_t i) {
            return i < piece.size() && ((piece[i] >= '0' && piece[i] <= '9') || (piece[i] >= 'a' && piece[i] <= 'z') ||
                                        (piece[i] >= 'A' && piece[i] <= 'Z'));
        };
        return piece.starts_with("http://") || piece.starts_with("https://") || piece.starts_with("www.") ||
               (at != piece.npos && at > 0 && plain(at - 1) && plain(at + 1) && piece.find('.', at) != piece.npos);
    }

    std::size_t end_of_word(std::size_t begin, std::size_t end) const {
        std::size_t at = begin, letter = begin;  // the start of the part after the last full stop
        bool initials = false;                   // as in U.S
        while (true) {
            while (at < end && is_word(at)) at = behind(at);
            if (at >= end) return at;
            const std::uint32_t sign = point_at(at);
            const std::size_t next = behind(at);
            const bool goes_on = next < end && is_word(next);
            if (goes_on && is_one_of(sign, U".,:") && is_digit(at - 1) && is_digit(next)) {
                at = letter = next;
            } else if (goes_on && is_apostrophe(sign)) {
                at = next;
            } else if (goes_on && sign == '.' && behind(letter) == at && !is_digit(letter)) {
                initials = true;
                at = letter = next;
            } else {
                const bool short_form = initials || is_short_form(text.substr(begin, at - begin));
                return sign == '.' && point_at(next) != '.' && short_form ? next : at;
            }
        }
    }

    // Abbreviations, to which a following full stop belongs.
    static bool is_short_form(std::string_view word) {
        static constexpr std::array<std::string_view, 14> known = {"Mr", "Mrs", "Ms",  "Dr",  "Prof", "St",  "Jr",
                                                                   "Sr", "vs",  "Rev", "Gen", "Sen",  "Gov", "Lt"};
        const bool initial = word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z' && word[0] != 'I';
        return initial || std::find(known.begin(), known.end(), word) != known.end();
    }

    // don't becomes do n't, and dog's becomes dog 's.
    void add_word(std::size_t begin, std::size_t end) {
        std::string lower;
        std::size_t straight = 0;  // the extra bytes of a curved apostrophe
        for (std::size_t at = begin; at < end; at = behind(at)) {
            if (is_apostrophe(point_at(at))) {
                straight = behind(at) - at - 1;
                lower += '\'';
            } else {
                for (std::size_t i = at; i < behind(at); ++i)
                    lower += text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
            }
        }
        for (const std::string_view tail : {"n't", "'s", "'re", "'ve", "'ll", "'d", "'m"}) {
            if (lower.size() > tail.size() && lower.ends_with(tail)) {
                const std::size_t cut = end - tail.size() - straight;
                add(begin, cut);
                add(cut, end);
                return;
            }
        }
        add(begin, end);
    }

    // ---- sentences

    void add(std::size_t begin, std::size_t end) {
        const std::uint32_t first = point_at(begin);
        const bool touches = !places.empty() && places.back().end == begin;
        if (ended) {
            const bool belongs = touches && (is_closing(first) || ends_a_sentence(first));
            if (!belongs && (no_blank || (!touches && !is_small_letter(first)))) finish();
            if (!belongs) ended = no_blank = false;
        }
        places.push_back({begin, end});
        if (ends_a_sentence(first)) {
            ended = true;
            no_blank = needs_no_blank(first);
        }
    }

    void finish() {
        if (places.size() > starts.back()) starts.push_back(places.size());
        ended = no_blank = false;
    }

    sentences_read found() const {
        sentences_read read;
        read.columns.resize(2);
        for (std::size_t i = 0; i < places.size(); ++i) {
            const bool touched = i + 1 < places.size() && places[i + 1].begin == places[i].end;
            read.columns[0].add(text.substr(places[i].begin, places[i].end - places[i].begin));
            read.columns[1].add(touched ? "SpaceAfter=No" : "_");
            read.places.push_back(static_cast<std::int64_t>(places[i].begin));
        }
        for (std::size_t s = 1; s < starts.size(); ++s) {
            read.starts.push_back(static_cast<std::int64_t>(starts[s]));
            const std::size_t end = starts[s] < places.size() ? places[starts[s]].begin : text.size();
            read.ends.push_back(static_cast<std::int64_t>(end));
        }
        read.width = 2;
        return read;
    }

    const characters& all = characters::all();
    std::string_view text;
    bool lines;
    std::vector<place> places;           // of words
    std::vector<std::size_t> starts{0};  // of sentences
    bool ended = false;                  // whether the sentence has ended, unless the next piece belongs to it
    bool no_blank = false;               // no blank is needed before the next word
};

}  // namespace markone
