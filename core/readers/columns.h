// Files with a word on each line and a blank line after each sentence -> columns: CoNLL-U, and columns separated by
// tabs or blanks as in the shared tasks of 2000 and 2003. A chunk ends with a sentence. Also writes CoNLL-U.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "readers/lines.h"

namespace markone {

// Many strings: the i-th is bytes[offsets[i] : offsets[i + 1]].
struct many_strings {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets{0};

    void add(std::string_view one) {
        const std::size_t size = bytes.size();
        bytes.resize(size + one.size());
        std::copy(one.begin(), one.end(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
};

constexpr std::int32_t unknown_head = -1;

struct sentences_read {
    std::vector<std::int64_t> starts{0};  // sentence s has the words starts[s] to starts[s + 1]
    std::vector<std::int64_t> ends;       // where in the chunk a sentence ends, and the next begins with its comments
    std::vector<std::int64_t> places;     // where in the chunk the line of a word begins
    std::vector<many_strings> columns;
    std::vector<std::int32_t> heads;  // from 1 in the sentence, 0 is the root
    std::size_t width = 0;            // columns on each line

    std::size_t words() const { return places.size() - static_cast<std::size_t>(starts.back()); }  // since the last end
};

// ---- formats: read(line) reads a line that is not blank, and returns whether a sentence ends before it; finish checks
// ---- a complete sentence

// Words have the numbers 1, 2 ...; lines with numbers like 3-4 (several words together) or 8.1 (an empty node) are not
// words. Lines that begin with # are comments, and come before the first word of a sentence.
class conllu_format {
  public:
    static constexpr std::size_t width = 10;
    static constexpr std::array<std::string_view, width> names = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                                                  "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};
    using fields = std::array<std::string_view, width>;

    conllu_format(std::vector<std::size_t> wanted, bool heads) : wanted(std::move(wanted)), heads(heads) {
        for (const std::size_t column : this->wanted)
            if (column >= width) throw std::invalid_argument("there is no such column");
    }

    std::size_t kept() const { return wanted.size(); }

    bool read(std::string_view line, sentences_read& to, const char* chunk) {
        const auto next = static_cast<std::int32_t>(to.words() + 1);
        if (line.front() == '#') {
            if (next > 1 || last_together > 0)
                throw bad_piece{line.data(), "a comment stands within a sentence; it belongs before the first word"};
            return false;
        }
        const fields found = split(line);
        const std::string_view id = found[0];
        const std::size_t behind = id.find_first_not_of("0123456789");
        if (behind != id.npos && behind > 0) {
            check_no_word(id, behind, next);
            return false;
        }
        if (number_of(id) != next) refuse(id, "the number of the word is ", ", not " + std::to_string(next));
        for (std::size_t i = 1; i < 8; ++i)
            if (found[i].empty())
                throw bad_piece{line.data(),
                                "the column " + std::string(names[i]) + " is empty; what is unknown is an underscore"};
        for (std::size_t i = 0; i < wanted.size(); ++i) to.columns[i].add(found[wanted[i]]);
        if (heads) to.heads.push_back(head_of(found[6]));
        to.places.push_back(line.data() - chunk);
        return false;
    }

    void finish(const sentences_read& read, const char* chunk) {
        const auto words = static_cast<std::int32_t>(read.words());
        const auto first = static_cast<std::size_t>(read.starts.back());
        for (std::size_t i = first; i < read.heads.size(); ++i)
            if (read.heads[i] > words)
                throw bad_piece{chunk + read.places[i], "the head is word " + std::to_string(read.heads[i]) +
                                                            ", but the sentence has " + std::to_string(words)};
        if (last_together > words)
            throw bad_piece{together, "words up to " + std::to_string(last_together) +
                                          " are written together, but the sentence has " + std::to_string(words)};
        last_together = 0;
    }

    static fields split(std::string_view line) {
        fields found;
        std::size_t count = 0;
        const char* at = line.data();
        for (const char* const end = at + line.size();; ++count) {
            const char* tab = find(at, end, '\t');
            if (count < width) found[count] = between(at, tab);
            if (tab == end) break;
            at = tab + 1;
        }
        if (++count != width) refuse_count(line, count);
        return found;
    }

    static const char* find(const char* at, const char* end, char what) {
        const void* const found = at == end ? nullptr : std::memchr(at, what, static_cast<std::size_t>(end - at));
        return found == nullptr ? end : static_cast<const char*>(found);
    }

  private:
    [[noreturn, gnu::cold]] static void refuse_count(std::string_view line, std::size_t count) {
        const bool blanks = count == 1 && line.find(' ') != line.npos;
        const std::string counted = std::to_string(count) + (count == 1 ? " column" : " columns");
        throw bad_piece{line.data(), "there " + std::string(count == 1 ? "is " : "are ") + counted + ", not 10" +
                                         (blanks ? "; they are separated by tabs, not by blanks" : "")};
    }

    static std::int32_t number_of(std::string_view digits) {
        std::int32_t number = 0;
        const auto [behind, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        const bool plain =
            digits.size() == 1 || !digits.starts_with('0');  // 01 would not be written back in the same way
        return error == std::errc() && behind == digits.data() + digits.size() && number >= 0 && plain ? number : -1;
    }

    static std::int32_t head_of(std::string_view field) {
        if (field == "_") return unknown_head;
        const std::int32_t head = number_of(field);
        if (head < 0) refuse(field, "the head is ", ", not the number of a word");
        return head;
    }

    void check_no_word(std::string_view id, std::size_t behind, std::int32_t next) {
        const std::int32_t first = number_of(id.substr(0, behind)), second = number_of(id.substr(behind + 1));
        if (id[behind] == '-' && first == next && second >= first) {
            if (first <= last_together)
                refuse(id, "the words ",
                       " are written together, but others up to " + std::to_string(last_together) + " are, too");
            last_together = second;
            together = id.data();
        } else if (!(id[behind] == '.' && first == next - 1 && second > 0)) {
            refuse(id, "the number of the line is ",
                   ", which does not stand before the word " + std::to_string(next) + " of the sentence");
        }
    }

    std::vector<std::size_t> wanted;
    bool heads;
    std::int32_t last_together = 0;  // the last word of lines like 3-4
    const char* together = nullptr;
};

// Each line has as many columns as the first. A line with -DOCSTART- begins a document.
class column_format {
  public:
    column_format(std::size_t width, bool tabs) : width(width), tabs(tabs) {}

    std::size_t kept() const { return width; }

    bool read(std::string_view line, sentences_read& to, const char* chunk) {
        fields.clear();
        if (tabs)
            split_at_tabs(line);
        else
            split_at_blanks(line);
        if (fields.front() == "-DOCSTART-") return true;
        if (width == 0) to.columns.resize(width = fields.size());
        if (fields.size() != width)
            throw bad_piece{line.data(), "there " + std::string(fields.size() == 1 ? "is " : "are ") +
                                             std::to_string(fields.size()) +
                                             (fields.size() == 1 ? " column" : " columns") + ", not " +
                                             std::to_string(width) + " as on the lines before"};
        for (std::size_t i = 0; i < width; ++i) {
            if (fields[i].empty()) throw bad_piece{line.data(), "column " + std::to_string(i + 1) + " is empty"};
            to.columns[i].add(fields[i]);
        }
        to.places.push_back(line.data() - chunk);
        to.width = width;
        return false;
    }

    void finish(const sentences_read&, const char*) {}

  private:
    void split_at_tabs(std::string_view line) {
        const char* at = line.data();
        for (const char* const end = at + line.size();; ++at) {
            const char* const tab = conllu_format::find(at, end, '\t');
            fields.push_back(between(at, tab));
            if ((at = tab) == end) return;
        }
    }

    void split_at_blanks(std::string_view line) {
        const char* const end = line.data() + line.size();
        for (const char* at = skip_blanks(line.data(), end); at != end; at = skip_blanks(at, end)) {
            const char* const begin = at;
            while (at != end && !is_blank(*at)) ++at;
            fields.push_back(between(begin, at));
        }
    }

    std::size_t width;
    bool tabs;
    std::vector<std::string_view> fields;
};

template <class Format>
sentences_read read_sentences(std::string_view chunk, Format format) {
    sentences_read read;
    read.columns.resize(format.kept());
    const char* const begin = chunk.data();
    const char* const end = begin + chunk.size();
    const auto finish = [&](const char* behind) {
        if (read.words() == 0) return;
        format.finish(read, begin);
        read.starts.push_back(static_cast<std::int64_t>(read.places.size()));
        read.ends.push_back(behind - begin);
    };
    try {
        for (const char* at = begin; at != end;) {
            const char* const newline = conllu_format::find(at, end, '\n');
            const char* const behind = newline == end ? end : newline + 1;
            std::string_view line = between(at, newline);
            if (line.ends_with('\r')) line.remove_suffix(1);
            if (skip_blanks(line.data(), line.data() + line.size()) == line.data() + line.size())
                finish(behind);
            else if (format.read(line, read, begin))
                finish(at);
            at = behind;
        }
        finish(end);
    } catch (const bad_piece& wrong) {
        throw bad_line(1 + std::count(begin, wrong.at, '\n'), wrong.at - begin, wrong.problem);
    }
    if (!read.ends.empty()) read.ends.back() = end - begin;
    return read;
}

// ---- trees

struct tree_problem {
    std::size_t word;
    std::string what;
};

// The first reason why the heads of a sentence are not a tree with one root.
inline std::optional<tree_problem> find_bad_tree(std::span<const std::int64_t> starts,
                                                 std::span<const std::int32_t> heads) {
    std::vector<std::size_t> seen;  // the word, from 1, from which this one was first reached
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
        const auto first = static_cast<std::size_t>(starts[s]), size = static_cast<std::size_t>(starts[s + 1]) - first;
        const std::span<const std::int32_t> head = heads.subspan(first, size);
        std::size_t root = 0;
        for (std::size_t i = 0; i < size; ++i) {
            if (head[i] == unknown_head) return {{first + i, "the word has no head"}};
            if (head[i] < 0 || static_cast<std::size_t>(head[i]) > size)
                return {{first + i, "the head is word " + std::to_string(head[i]) + ", but the sentence has " +
                                        std::to_string(size)}};
            if (head[i] != 0) continue;
            if (root != 0)
                return {{first + i, "the sentence has two roots, the words " + std::to_string(root) + " and " +
                                        std::to_string(i + 1)}};
            root = i + 1;
        }
        seen.assign(size + 1, 0);
        for (std::size_t i = 1; i <= size; ++i) {
            std::size_t at = i;
            while (at != 0 && seen[at] == 0) {
                seen[at] = i;
                at = static_cast<std::size_t>(head[at - 1]);
            }
            if (at != 0 && seen[at] == i)
                return {{first + at - 1, "the heads go in a circle: from word " + std::to_string(at) +
                                             " upwards one comes to word " + std::to_string(at) + " again"}};
        }
        if (root == 0 && size > 0) return {{first, "the sentence has no root"}};
    }
    return {};
}

// ---- writing

// A column that replaces the column with this number.
struct new_column {
    std::size_t number;
    std::span<const std::uint8_t> bytes;
    std::span<const std::int64_t> offsets;

    std::string_view operator[](std::size_t i) const {
        return {reinterpret_cast<const char*>(bytes.data()) + offsets[i],
                static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
    }
};

// The chunk with a new last column: each line of a word, whose places are given, gets its field at the end.
inline std::vector<std::uint8_t> append_column(std::string_view chunk, std::span<const std::int64_t> places,
                                               const new_column& column, char separator) {
    std::vector<std::uint8_t> out;
    std::size_t done = 0;
    const auto put = [&](std::string_view text) { out.insert(out.end(), text.begin(), text.end()); };
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto place = static_cast<std::size_t>(places[i]);
        if (places[i] < 0 || place < done || place >= chunk.size())
            throw std::invalid_argument("a word is not where it should be in the chunk");
        std::size_t end = std::min(chunk.find('\n', place), chunk.size());
        while (end > place && (chunk[end - 1] == '\r' || is_blank(chunk[end - 1]))) --end;
        const std::string_view field = column[i];
        if (field.empty() || field.find_first_of(" \t\n\r") != field.npos)
            throw std::invalid_argument(quoted(field) + " is no field of a column");
        put(chunk.substr(done, end - done));
        out.push_back(static_cast<std::uint8_t>(separator));
        put(field);
        done = end;
    }
    put(chunk.substr(done));
    return out;
}

class conllu_writer {
  public:
    conllu_writer(std::span<const new_column> columns, std::span<const std::int32_t> heads)
        : columns(columns), heads(heads) {}

    // The chunk with new columns in the lines of words, whose places are given.
    std::vector<std::uint8_t> rewrite(std::string_view chunk, std::span<const std::int64_t> places) {
        std::size_t done = 0;
        for (std::size_t i = 0; i < places.size(); ++i) {
            const auto place = static_cast<std::size_t>(places[i]);
            if (places[i] < 0 || place < done || place >= chunk.size())
                throw std::invalid_argument("a word is not where it should be in the chunk");
            put_between(chunk.substr(done, place - done));
            std::string_view line = chunk.substr(place, chunk.find('\n', place) - place);
            if (line.ends_with('\r')) line.remove_suffix(1);
            conllu_format::fields fields = fields_of(line);
            write(fields, i);
            done = place + line.size();
        }
        put_between(chunk.substr(done));
        return std::move(out);
    }

    // Sentences that do not come from a file.
    std::vector<std::uint8_t> write_new(std::span<const std::int64_t> starts) {
        for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
            for (std::int64_t i = starts[s]; i < starts[s + 1]; ++i) {
                const std::string id = std::to_string(i - starts[s] + 1);
                conllu_format::fields fields;
                fields.fill("_");
                fields[0] = id;
                write(fields, static_cast<std::size_t>(i));
                put("\n");
            }
            put("\n");
        }
        return std::move(out);
    }

  private:
    static conllu_format::fields fields_of(std::string_view line) {
        try {
            return conllu_format::split(line);
        } catch (const bad_piece& wrong) {
            throw std::invalid_argument(wrong.problem);
        }
    }

    // Copies the lines between words; the graph of empty nodes is removed, because it belongs to other heads.
    void put_between(std::string_view text) {
        while (!heads.empty() && !text.empty()) {
            const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
            std::string_view line = text.substr(0, size);
            text.remove_prefix(size);
            const std::size_t behind = line.find_first_not_of("0123456789");
            if (behind == 0 || behind == line.npos || line[behind] != '.') {
                put(line);
                continue;
            }
            const std::string_view end = line.substr(line.find_last_not_of("\r\n") + 1);
            line.remove_suffix(end.size());
            conllu_format::fields fields = fields_of(line);
            fields[deps] = "_";
            put_fields(fields);
            put(end);
        }
        put(text);
    }

    void write(conllu_format::fields& fields, std::size_t i) {
        if (!heads.empty()) fields[deps] = "_";
        for (const new_column& column : columns) {
            const std::string_view field = column[i];
            if (field.find_first_of("\t\n\r") != field.npos)
                throw std::invalid_argument(quoted(field) + " has a tab or the end of a line in it");
            fields[column.number] = field.empty() ? "_" : field;
        }
        std::string head;
        if (!heads.empty() && heads[i] != unknown_head) head = std::to_string(heads[i]);
        if (!heads.empty()) fields[6] = head.empty() ? "_" : std::string_view(head);
        put_fields(fields);
    }

    void put_fields(const conllu_format::fields& fields) {
        for (std::size_t f = 0; f < fields.size(); ++f) {
            if (f > 0) put("\t");
            put(fields[f]);
        }
    }

    void put(std::string_view text) {
        const std::size_t size = out.size();
        out.resize(size + text.size());
        std::copy(text.begin(), text.end(), out.begin() + static_cast<std::ptrdiff_t>(size));
    }

    static constexpr std::size_t deps = 8;  // a graph of the heads, which is invalid if they change

    std::span<const new_column> columns;
    std::span<const std::int32_t> heads;  // empty if they do not change
    std::vector<std::uint8_t> out;
};

}  // namespace markone
