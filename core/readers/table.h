// Lines of a table -> columns: fields between separators or white space, some of them in quotes.
//
//   39, State-gov, "Bachelors, with ""honours""", ?
//
// A quote has a meaning only at the start of a field. Within quotes, separators and line ends are text, and two quotes
// are one. White space around a field is removed unless it is in the quotes. Blank lines are skipped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "readers/lines.h"

namespace markone {

// ---- the form of a table

struct table_form {
    char separator = ',';  // a space means any amount of white space
    std::optional<char> quote = '"';

    bool by_blanks() const { return separator == ' '; }
    bool is_separator(char c) const { return by_blanks() ? is_blank(c) : c == separator; }
    // If the separator is a tab, tabs are not trimmed from fields.
    bool is_around(char c) const { return !by_blanks() && is_blank(c) && c != separator; }
    bool is_quote(char c) const { return quote.has_value() && c == *quote; }
};

// The place of the quote that closes the one just before `at`, or the end.
inline const char* closing_quote(const char* at, const char* end, char quote) {
    for (; at != end; at += 2) {
        at = static_cast<const char*>(std::memchr(at, quote, static_cast<std::size_t>(end - at)));
        if (at == nullptr || at + 1 == end) return at == nullptr ? end : at;
        if (at[1] != quote) return at;
    }
    return end;
}

// The end of the last complete row, 0 if there is none. `bytes` start at the start of a row. A quote as the last byte
// could be half of a pair, so it does not close a field.
inline std::size_t whole_rows(std::string_view bytes, const table_form& form) {
    const char* const begin = bytes.data();
    const char* const end = begin + bytes.size();
    std::size_t whole = 0;
    const auto look_for_ends = [&](const char* from, const char* to) {
        const std::size_t at = between(from, to).rfind('\n');
        if (at != std::string_view::npos) whole = static_cast<std::size_t>(from - begin) + at + 1;
    };
    const char* at = begin;
    while (form.quote.has_value()) {
        const void* const found = std::memchr(at, *form.quote, static_cast<std::size_t>(end - at));
        if (found == nullptr) break;
        const char* const quote = static_cast<const char*>(found);
        look_for_ends(at, quote);
        const char* before = quote;
        while (before != begin && form.is_around(before[-1])) --before;
        at = quote + 1;
        if (before != begin && before[-1] != '\n' && !form.is_separator(before[-1])) continue;
        const char* const closing = closing_quote(at, end, *form.quote);
        if (closing == end || closing + 1 == end) return whole;
        at = closing + 1;
    }
    look_for_ends(at, end);
    return whole;
}

// ---- columns

// Bits that show which values are not missing, as in Arrow's arrays.
class presence {
  public:
    void add(bool there) {
        if (count % 8 == 0) bits.push_back(0);
        if (there)
            bits.back() = static_cast<std::uint8_t>(bits.back() | 1u << count % 8);
        else
            ++missing;
        ++count;
    }

    std::vector<std::uint8_t> bits;
    std::int64_t missing = 0;

  private:
    std::size_t count = 0;
};

// How a column is read. The words for missing values are missing values, except in texts.
enum class table_kind : std::uint8_t { skip, text, word, number };

struct table_column {
    table_kind kind;
    std::vector<double> numbers;
    std::vector<std::int32_t> offsets{0};  // text i is bytes[offsets[i] : offsets[i + 1]], as in Arrow's arrays
    std::vector<char> bytes;
    presence there;
};

struct table_rows {
    std::vector<table_column> columns;
    std::vector<std::int64_t> lines;  // in which each row starts, from 1
};

// ---- the reader

class table_reader {
  public:
    table_reader(const table_form& form, std::vector<std::string> missing, std::vector<table_kind> kinds,
                 std::vector<std::string> names)
        : form(form), missing(std::move(missing)), kinds(std::move(kinds)), names(std::move(names)) {
        for (const std::string& mark : this->missing) longest_mark = std::max(longest_mark, mark.size());
    }

    // Reads complete rows; the last one may lack its line end.
    line_tally read(std::string_view chunk, bool skip_bad, table_rows& rows) const {
        constexpr std::size_t few = 5;
        if (chunk.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
            throw std::length_error("a chunk is at most 2 GiB long");
        for (const table_kind kind : kinds) rows.columns.emplace_back().kind = kind;
        line_tally tally;
        row_parts row;
        const char* const end = chunk.data() + chunk.size();
        const bool plain = ascii::is_all(chunk);
        for (const char* at = chunk.data(); at != end;) {
            const char* const begin = at;
            const std::int64_t line = ++tally.lines;
            try {
                at = split(at, end, row);
                for (const char* inner = begin; inner != at;) {  // the ends of lines that are within quotes
                    inner = static_cast<const char*>(std::memchr(inner, '\n', static_cast<std::size_t>(at - inner)));
                    if (inner == nullptr || ++inner == at) break;
                    ++tally.lines;
                }
                if (row.fault != nullptr) refuse(row.whole(), row.fault, "");
                if (row.fields.empty()) continue;
                if (row.fields.size() != kinds.size()) refuse_count(row);
                if (!plain) check_encoding(row.whole());
                if (rows.lines.empty()) make_room(rows, chunk.size() / row.whole().size() + 1);
                add(row, rows, line);
            } catch (const bad_piece& wrong) {
                if (!skip_bad) throw bad_line(line, wrong.at - chunk.data(), wrong.problem);
                ++tally.bad;
                if (tally.first_bad.size() < few) tally.first_bad.emplace_back(line, wrong.problem);
            }
        }
        return tally;
    }

    // The fields of the first row that is not blank, and where it ends.
    static std::pair<std::vector<std::string>, std::size_t> first_row(std::string_view chunk, const table_form& form) {
        const table_reader reader(form, {}, {}, {});
        row_parts row;
        std::int64_t line = 0;
        const char* const end = chunk.data() + chunk.size();
        const char* at = chunk.data();
        while (at != end && row.fields.empty()) {
            const char* const begin = at;
            ++line;
            at = reader.split(at, end, row);
            if (row.fault != nullptr) throw bad_line(line, begin - chunk.data(), row.fault + quoted(row.whole()));
        }
        std::vector<std::string> fields;
        for (const field& one : row.fields) fields.emplace_back(row.text(one));
        return {std::move(fields), static_cast<std::size_t>(at - chunk.data())};
    }

  private:
    // A field is between two places in the chunk or, if quotes had to be removed, in `unquoted`.
    struct field {
        const char* begin;
        std::size_t size;
        bool moved;
        std::size_t at;  // in `unquoted`
    };
    struct row_parts {
        std::vector<field> fields;
        std::string unquoted;
        std::vector<std::optional<double>> numbers;  // of the fields that are numbers
        const char* begin = nullptr;
        const char* end = nullptr;
        const char* fault = nullptr;  // what is wrong with the row, before it is quoted

        std::string_view whole() const { return between(begin, end); }
        std::string_view text(const field& one) const {
            return one.moved ? std::string_view(unquoted).substr(one.at, one.size)
                             : std::string_view(one.begin, one.size);
        }
    };

    static void check_encoding(std::string_view row) {
        const char* const end = row.data() + row.size();
        for (const char* at = row.data(); at != end;) {
            const char* const begin = at;
            if (characters::decode(at, end) == characters::none)
                refuse(row.substr(static_cast<std::size_t>(begin - row.data()), 20), "",
                       " is not UTF-8; if the file has another encoding, say so, for instance encoding='latin-1'");
        }
    }

    // Splits the row at `at` into fields and returns the start of the next row.
    const char* split(const char* at, const char* end, row_parts& row) const {
        row.fields.clear();
        row.unquoted.clear();
        row.fault = nullptr;
        row.begin = at;
        if (form.by_blanks()) at = skip_blanks(at, end);
        for (;;) {
            const char* begin = at;
            while (begin != end && form.is_around(*begin)) ++begin;
            if (begin != end && form.is_quote(*begin)) {
                at = take_quoted(begin + 1, end, row);
            } else {
                at = begin;
                if (form.by_blanks())
                    while (at != end && *at != '\n' && !is_blank(*at)) ++at;
                else
                    while (at != end && *at != '\n' && *at != form.separator) ++at;
                const char* stop = at;
                if (stop != begin && (at == end || *at == '\n') && stop[-1] == '\r') --stop;
                while (stop != begin && form.is_around(stop[-1])) --stop;
                row.fields.push_back({begin, static_cast<std::size_t>(stop - begin), false, 0});
            }
            const bool separated = at != end && *at != '\n';
            if (separated && form.by_blanks()) {
                at = skip_blanks(at, end);
                if (at != end && *at == '\r' && (at + 1 == end || at[1] == '\n')) ++at;
                if (at != end && *at != '\n') continue;
            } else if (separated) {
                ++at;
                continue;
            }
            break;
        }
        row.end = at;
        if (row.end != row.begin && row.end[-1] == '\r') --row.end;
        // A blank line has one empty field. In a table with one column, an empty value therefore needs quotes.
        if (row.fields.size() == 1 && row.fields[0].size == 0 && !row.fields[0].moved) row.fields.clear();
        return at == end ? end : at + 1;
    }

    // Starts after the opening quote; returns the separator or the line end after the field.
    const char* take_quoted(const char* at, const char* end, row_parts& row) const {
        const std::size_t begin = row.unquoted.size();
        const char* const closing = closing_quote(at, end, *form.quote);
        for (const char* c = at; c != closing; ++c) {
            row.unquoted += *c;
            if (form.is_quote(*c)) ++c;
        }
        row.fields.push_back({at, row.unquoted.size() - begin, true, begin});
        if (closing == end) {
            fail(row, "a quote is opened and never closed in ");
            return end;
        }
        at = closing + 1;
        while (at != end && form.is_around(*at)) ++at;
        if (at != end && *at == '\r' && (at + 1 == end || at[1] == '\n')) ++at;
        if (at == end || *at == '\n' || form.is_separator(*at)) return at;
        fail(row, "there is more after a closing quote in ");
        while (at != end && *at != '\n' && !form.is_separator(*at)) ++at;
        return at;
    }

    static void fail(row_parts& row, const char* fault) {
        if (row.fault == nullptr) row.fault = fault;
    }

    [[noreturn, gnu::cold]] void refuse_count(const row_parts& row) const {
        const std::size_t count = row.fields.size();
        const std::string found = count == 1 ? "is 1 field" : "are " + std::to_string(count) + " fields";
        throw bad_piece{
            row.begin, "there " + found + " instead of " + std::to_string(kinds.size()) + " in " + quoted(row.whole())};
    }

    // Reserves room for the estimated number of rows.
    void make_room(table_rows& rows, std::size_t count) const {
        rows.lines.reserve(count);
        for (table_column& column : rows.columns) {
            if (column.kind == table_kind::number) column.numbers.reserve(count);
            if (column.kind == table_kind::text || column.kind == table_kind::word) column.offsets.reserve(count + 1);
        }
    }

    bool is_missing(std::string_view value) const {
        if (value.size() > longest_mark) return false;
        for (const std::string& mark : missing)
            if (value == mark) return true;
        return false;
    }

    // Two steps, so that a bad row adds nothing: first the numbers are read, then all values are added.
    void add(row_parts& row, table_rows& rows, std::int64_t line) const {
        row.numbers.clear();
        for (std::size_t i = 0; i < kinds.size(); ++i)
            if (kinds[i] == table_kind::number) row.numbers.push_back(number(row.text(row.fields[i]), names[i]));
        auto next_number = row.numbers.begin();
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            table_column& column = rows.columns[i];
            if (kinds[i] == table_kind::number) {
                column.numbers.push_back(next_number->value_or(0));
                column.there.add((next_number++)->has_value());
            } else if (kinds[i] != table_kind::skip) {
                const std::string_view value = row.text(row.fields[i]);
                const bool there = kinds[i] == table_kind::text || !is_missing(value);
                if (there) column.bytes.insert(column.bytes.end(), value.begin(), value.end());
                column.offsets.push_back(static_cast<std::int32_t>(column.bytes.size()));
                column.there.add(there);
            }
        }
        rows.lines.push_back(line);
    }

    std::optional<double> number(std::string_view value, const std::string& name) const {
        double read = 0;
        const char* const end = value.data() + value.size();
        if (read_short_number(value.data(), end, read) == end && !value.empty()) return read;
        if (is_missing(value)) return std::nullopt;
        switch (read_number(value, read)) {
            case number_fault::not_a_number: refuse(value, quoted(name) + " is not a number: ", "");
            case number_fault::not_finite: refuse(value, quoted(name) + " is not finite: ", "");
            case number_fault::out_of_range: refuse(value, quoted(name) + " is too large or too small: ", "");
            case number_fault::none: break;
        }
        return read;
    }

    table_form form;
    std::vector<std::string> missing;
    std::size_t longest_mark = 0;
    std::vector<table_kind> kinds;   // by column
    std::vector<std::string> names;  // of the columns, for messages
};

}  // namespace markone
