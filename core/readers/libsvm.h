// Lines of LIBSVM and SVMlight -> rows:
//
//   label [qid:number] index:value index:value ... [# comment]
//
// The label is any word. An index is a whole number below 2^31, and is the feature's name; indices come in any order.
// Lines without a label and features are skipped. A # within the label is part of it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "readers/row_reader.h"

namespace markone {

// Indices by their value, numbered in the order of their first occurrence: a word_table without words.
class index_table : public key_table<std::uint32_t> {
  public:
    // The number of an index, which gets the next one if it is new. Small indices need no search.
    std::uint32_t find_or_add(std::uint32_t index) {
        constexpr std::uint32_t most = 1 << 20;
        if (index >= most) return key_table<std::uint32_t>::find_or_add(index);
        if (index >= known.size())
            known.resize(std::min<std::size_t>(most, std::max(2 * known.size(), std::size_t{index} + 512)));
        if (known[index] == 0) known[index] = key_table<std::uint32_t>::find_or_add(index) + 1;
        return known[index] - 1;
    }

    // The index in the text, or npos.
    static std::uint32_t index_of(std::string_view text) {
        constexpr std::uint32_t largest = 0x7fffffff;
        const char* const end = text.data() + text.size();
        std::uint32_t index = npos;
        const auto [stop, error] = std::from_chars(text.data(), end, index);
        return error == std::errc() && stop == end && index <= largest ? index : npos;
    }

  private:
    std::vector<std::uint32_t> known;  // by index: its number + 1, or 0
};

inline std::string name_of(const index_table& names, std::uint32_t number) {
    return std::to_string(names[number]);
}

inline std::uint32_t add_name(index_table& names, std::string_view name) {
    const std::uint32_t index = index_table::index_of(name);
    if (index == npos) throw std::invalid_argument("the name " + quoted(name) + " is no index");
    return names.find_or_add(index);
}

class libsvm_reader : public row_reader<index_table> {
  public:
    void read(std::string_view line, labelled_rows& rows) {
        read_as(line, rows, [&](std::uint32_t index) { return features.find_or_add(index); });
    }

    // The same with the indices themselves in place of the features' numbers. Several readers can read parts of a file
    // at once, and `number_all` then numbers the features in the order of the file.
    void read_indices(std::string_view line, labelled_rows& rows) {
        const std::size_t before = rows.indices.size();
        if (!read_as(line, rows, [](std::uint32_t index) { return index; }))
            for (std::size_t i = before; i < rows.indices.size(); ++i) rows.indices[i] = features[rows.indices[i]];
    }
    void number_all(std::span<std::uint32_t> indices) {
        constexpr std::uint32_t largest = 0x7fffffff;
        for (std::uint32_t& index : indices) {
            if (index > largest) throw std::invalid_argument("an index is too large");
            index = features.find_or_add(index);
        }
    }

  private:
    // Returns whether the line was written by `number_of`, which gives an index its number; other lines have the
    // reader's own numbers.
    template <class Number>
    bool read_as(std::string_view line, labelled_rows& rows, Number number_of) {
        const char* const end = line.data() + line.size();
        const char* at = skip_blanks(line.data(), end);
        if (at == end || *at == '#') return true;
        const char* const begin = at;
        while (at != end && !is_blank(*at)) ++at;
        const std::string_view label = between(begin, at);
        if (is_feature(label)) refuse(label, "there is no label before the feature ", "");
        pieces.clear();
        for (;;) {
            at = skip_blanks(at, end);
            if (at == end || *at == '#') break;
            at = read_piece(at, end);
        }
        begin_row(line, pieces);
        if (rise(pieces)) {
            end_rising_row(label, rows, number_of);
            return true;
        }
        for (const auto& [index, value] : pieces) add(value, index);
        end_row(label, rows);
        return false;
    }

    struct piece {
        std::uint32_t index;
        double value;
    };

    // Whether the indices are in order, as they usually are. Then none is repeated.
    static bool rise(const std::vector<piece>& pieces) {
        std::uint32_t falls = 0;
        for (std::size_t i = 1; i < pieces.size(); ++i) falls |= pieces[i].index <= pieces[i - 1].index;
        return falls == 0;
    }

    template <class Number>
    void end_rising_row(std::string_view label, labelled_rows& rows, Number number_of) {
        const std::size_t before = rows.indices.size();
        rows.indices.resize(before + pieces.size());
        rows.values.resize(before + pieces.size());
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            rows.indices[before + i] = number_of(pieces[i].index);
            rows.values[before + i] = static_cast<float>(pieces[i].value);
        }
        end_with(label, rows);
    }

    static bool ends(const char* at, const char* end) { return at == end || is_blank(*at) || *at == '#'; }
    static bool is_whole(std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    }
    static bool is_feature(std::string_view word) {
        const std::size_t colon = word.find(':');
        return colon != word.npos && (is_whole(word.substr(0, colon)) || word.starts_with("qid:"));
    }

    // Returns the place after the piece.
    const char* read_piece(const char* begin, const char* end) {
        constexpr std::ptrdiff_t surely_below_largest = 9;
        std::uint32_t index;
        const char* at = read_whole(begin, end, index);
        if (at == begin || at - begin > surely_below_largest || at == end || *at != ':') return read_any(begin, end);
        double value;
        if (end - at > 2 && is_digit(at[1]) && is_blank(at[2])) {  // the value has one digit
            value = at[1] - '0';
            at += 2;
        } else {
            at = read_short_number(at + 1, end, value);
            if (at == nullptr || !ends(at, end)) return read_any(begin, end);
        }
        pieces.push_back({index, value});
        return at;
    }

    // The same for pieces that are longer, rarer or wrong.
    [[gnu::noinline]] const char* read_any(const char* begin, const char* end) {
        const char* stop = begin;
        while (!ends(stop, end)) ++stop;
        const std::string_view whole = between(begin, stop);
        const std::size_t colon = whole.find(':');
        if (colon == whole.npos) refuse(whole, "", " is not index:value");
        const std::string_view before = whole.substr(0, colon), after = whole.substr(colon + 1);
        if (before == "qid" && is_whole(after)) return stop;
        const std::uint32_t index = index_table::index_of(before);
        if (index == npos) refuse(before, "the index ", " is not a whole number from 0 to 2147483647");
        const double value = number(after, "the value ");
        if (!fits(value)) refuse(after, "the value ", " is too large");
        pieces.push_back({index, value});
        return stop;
    }

    std::vector<piece> pieces;  // of the current line
};

}  // namespace markone
