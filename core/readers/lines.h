// A chunk of a file -> its lines, and the treatment of bad lines. The formats are in libsvm.h, vw.h and
// labelled_text.h; a chunk ends where a line ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/text.h"
#include "text/vocabulary.h"

namespace markone {

// ---- what is wrong

// A line that cannot be read.
struct bad_line : std::invalid_argument {
    bad_line(std::int64_t line, std::int64_t offset, const std::string& problem)
        : std::invalid_argument("line " + std::to_string(line) + ": " + problem),
          line(line),
          offset(offset),
          problem(problem) {}

    std::int64_t line;    // in the chunk, from 1
    std::int64_t offset;  // in the chunk, of the piece that is wrong
    std::string problem;
};

// The same, thrown where the place of the line in the chunk is not known.
struct bad_piece {
    const char* at;
    std::string problem;
};

// For messages: on one line, not too long, and without control characters or invalid UTF-8.
inline std::string quoted(std::string_view bytes) {
    constexpr std::size_t longest = 80;
    const auto escaped = [](std::string_view them) {
        std::string out;
        for (const char c : them) {
            constexpr char digit[] = "0123456789abcdef";
            out += {'\\', 'x', digit[static_cast<unsigned char>(c) >> 4], digit[static_cast<unsigned char>(c) & 15]};
        }
        return out;
    };
    std::string out;
    std::size_t length = 0;
    const char* const end = bytes.data() + bytes.size();
    for (const char* at = bytes.data(); at != end;) {
        const char* const begin = at;
        const std::uint32_t point = characters::decode(at, end);
        const std::string_view same(begin, static_cast<std::size_t>(at - begin));
        const bool plain =
            point == ' ' || (point != '\'' && point != '\\' && characters::all().of(point) != characters::gap);
        const std::string next = plain           ? std::string(same)
                                 : point == '\t' ? "\\t"
                                 : point == '\'' ? "\\'"
                                 : point == '\\' ? "\\\\"
                                                 : escaped(same);
        const std::size_t needs = plain ? 1 : next.size(), reserve = at == end ? 2 : 3;  // quotes, dots
        if (length + needs + reserve > longest) {
            out += "…";
            break;
        }
        out += next;
        length += needs;
    }
    return "'" + out + "'";
}

// The piece is quoted between the two parts of the message.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(std::string_view piece, std::string_view before,
                                                          std::string_view after) {
    throw bad_piece{piece.data(), std::string(before) + quoted(piece) + std::string(after)};
}

// ---- lines

struct line_tally {
    std::int64_t lines = 0, bad = 0;
    std::vector<std::pair<std::int64_t, std::string>> first_bad;  // number and problem
};

// Calls read(line) for each line, without its end, in turn. A bad line ends it, or is counted and skipped.
template <class Read>
line_tally each_line(std::string_view chunk, bool skip_bad, Read read) {
    constexpr std::size_t few = 5;
    line_tally tally;
    for (std::string_view rest = chunk; !rest.empty();) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (line.ends_with('\r')) line.remove_suffix(1);
        ++tally.lines;
        try {
            read(line);
        } catch (const bad_piece& wrong) {
            if (!skip_bad) throw bad_line(tally.lines, wrong.at - chunk.data(), wrong.problem);
            ++tally.bad;
            if (tally.first_bad.size() < few) tally.first_bad.emplace_back(tally.lines, wrong.problem);
        }
    }
    return tally;
}

// ---- pieces of lines

inline bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

inline const char* skip_blanks(const char* at, const char* end) {
    while (at != end && is_blank(*at)) ++at;
    return at;
}

inline std::string_view between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

// ---- names

inline std::string name_of(const word_table& names, std::uint32_t number) {
    return std::string(names[number]);
}

inline std::uint32_t add_name(word_table& names, std::string_view name) {
    return names.find_or_add(name);
}

constexpr std::int32_t unlabelled = -1;

// The label's number; a new label gets the next number.
inline std::int32_t number_of_label(std::string_view label, word_table& labels) {
    const std::uint32_t number = labels.find_or_add(label);
    if (number > 0x7fffffff) throw std::length_error("too many labels");
    return static_cast<std::int32_t>(number);
}

}  // namespace markone
