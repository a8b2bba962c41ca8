// Text -> the tokens for features: words; words that are marked if they are negated; only words that are negated
// or have no capital letter; or n-grams of characters, of the whole text or within words.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/portable.h"
#include "text/text.h"

namespace markone {

enum class token_choice : std::uint8_t { all, lower, negated };

struct stream_settings {
    token_settings tokens;
    bool negation = false;                          // a word that is negated is another word
    token_choice choice = token_choice::all;        // which of the words
    std::size_t shortest_run = 0, longest_run = 0;  // of characters; 0 for whole words
    bool within_words = false;                      // these runs do not cross the border of a word
};

// Reads a text word by word and tells whether a word is negated: it follows not, never, isn't or a similar word without
// punctuation in between.
class negation_scope {
  public:
    void begin() { open = after_n = after_apostrophe = false; }

    // Reads the next word, and returns whether it is negated.
    bool word(std::string_view token) {
        const bool negated = open;
        open = open || starts(token);
        after_n = token.ends_with('n') || token.ends_with('N');
        after_apostrophe = false;
        return negated;
    }

    void sign(std::string_view token) {
        after_apostrophe = after_n && (token == "'" || token == "’");
        after_n = false;
        if (closes(token)) open = false;
    }

  private:
    bool starts(std::string_view token) const {
        constexpr std::array<std::string_view, 11> negations = {
            "cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "nowhere", "without"};
        constexpr std::size_t longest = 7;
        if (token.size() > longest) return false;
        std::array<char, longest> lower{};
        for (std::size_t i = 0; i < std::min(longest, token.size()); ++i) {
            const char c = token[i];
            lower[i] = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
        }
        const std::string_view plain(lower.data(), token.size());
        if (plain == "t") return after_apostrophe;
        return std::find(negations.begin(), negations.end(), plain) != negations.end();
    }

    static bool closes(std::string_view token) {
        constexpr std::string_view ends = ".,;:!?()[]{}\"…—–“”«»。，、；：！？।،؛؟";
        for (std::size_t at = ends.find(token); at != ends.npos; at = ends.find(token, at + 1))
            if ((static_cast<unsigned char>(ends[at]) & 0xc0) != 0x80) return true;
        return false;
    }

    bool open = false, after_n = false, after_apostrophe = false;
};

// Calls use(token) for each token in turn. The token's bytes are valid only during the call; `readable` bytes can be
// read, even if it is shorter.
class token_stream {
  public:
    static constexpr std::size_t readable = 16;

    explicit token_stream(const stream_settings& how) : how(how), tokens(as_read(how)) {
        if (how.longest_run > 0 && (how.shortest_run < 1 || how.shortest_run > how.longest_run))
            throw std::invalid_argument("no such lengths of n-grams of characters");
        if (how.within_words && (how.longest_run == 0 || how.negation || how.choice != token_choice::all))
            throw std::invalid_argument("only n-grams of characters of all words are within words");
    }

    template <class Use>
    void operator()(std::string_view text, Use use) {
        if (how.longest_run == 0) {
            each_word(text, [&](std::string_view token, std::size_t) { use(token); });
            return;
        }
        each_run_of(text, use);
    }

    // Calls use(token, first, last) for the same tokens, each with its words, from `first` to before `last`, and
    // returns the places of the words in the text. An n-gram of characters belongs to every word that it touches.
    template <class Use>
    std::vector<place> with_places(std::string_view text, Use use) {
        const std::vector<place> everything = tokens.places(text);
        std::vector<place> words;
        line.assign(1, ' ');
        std::vector<std::size_t> word_at(1, 0);  // by byte of the line: its word or, for a space, the next word
        const auto finish = [&] {
            each_run([&](std::string_view run, std::size_t begin) {
                const std::size_t last = begin + run.size() - 1;
                use(run, word_at[begin], word_at[last] + (line[last] != ' '));
            });
            line.assign(1, ' ');
            word_at.assign(1, words.size());
        };
        const auto add = [&](std::string_view token, std::size_t number) {
            const std::size_t word = words.size();
            words.push_back(everything[number]);
            if (how.longest_run == 0) {
                use(token, word, word + 1);
                return;
            }
            line += token;
            line += ' ';
            word_at.resize(line.size() - 1, word);
            word_at.push_back(word + 1);
            if (how.within_words) finish();
        };
        if (how.within_words)
            each_whole_word(text, add);
        else
            each_word(text, add);
        if (how.longest_run > 0 && !how.within_words) finish();
        return words;
    }

  private:
    // Negation depends on the signs, and lower case on the capitals, so the tokenizer must keep them. Characters of
    // unspaced scripts that are not words stand beside each other in a line.
    static token_settings as_read(const stream_settings& how) {
        token_settings read = how.tokens;
        if (how.negation || how.choice == token_choice::negated) read.signs = true;
        if (how.choice == token_choice::lower) read.fold = false;
        if (how.longest_run > 0 && !how.within_words) read.unspaced = false;
        return read;
    }

    // Calls use(run) for each n-gram of characters.
    template <class Use>
    MARKONE_NOINLINE void each_run_of(std::string_view text, Use use) {
        // The words again, with single spaces before, between and after them.
        line.assign(1, ' ');
        const auto add = [&](std::string_view word, std::size_t) {
            line += word;
            line += ' ';
        };
        const auto finish = [&] {
            line.reserve(line.size() + readable);
            each_run([&](std::string_view run, std::size_t) { use(run); });
            line.assign(1, ' ');
        };
        if (how.within_words) {
            each_whole_word(text, [&](std::string_view word, std::size_t number) {
                add(word, number);
                finish();
            });
        } else {
            each_word(text, add);
            finish();
        }
    }

    // Calls use(word, number) for the words that have parts: not for signs, nor for single letters.
    template <class Use>
    MARKONE_NOINLINE void each_whole_word(std::string_view text, Use use) {
        std::size_t next = 0;
        tokens(text, [&](std::string_view token, characters::kind kind) {
            if (const std::size_t number = next++; kind == characters::word) use(token, number);
        });
    }

    // Calls use(token, number), where the number counts all words and signs of the tokenizer from 0.
    template <class Use>
    void each_word(std::string_view text, Use use) {
        std::size_t next = 0;
        if (how.choice == token_choice::all && !how.negation) {
            tokens(text, [&](std::string_view token, characters::kind) { use(token, next++); });
            return;
        }
        scope.begin();
        tokens(text, [&](std::string_view token, characters::kind kind) {
            const std::size_t number = next++;
            if (kind == characters::sign) {
                scope.sign(token);
                if (how.tokens.signs && how.choice == token_choice::all) use(token, number);
            } else if (how.choice == token_choice::lower) {
                if (!has_capital(token)) use(folded(token), number);
            } else if (scope.word(token)) {
                use(marked(token), number);
            } else if (how.choice == token_choice::all) {
                use(token, number);
            }
        });
    }

    // Calls use(run, begin) for each n-gram of the line's characters, which starts at the byte `begin`.
    template <class Use>
    void each_run(Use use) {
        if (line.size() == 1) return;
        starts.clear();
        for (std::size_t at = 0; at < line.size(); ++at)
            if ((static_cast<unsigned char>(line[at]) & 0xc0) != 0x80) starts.push_back(at);
        starts.push_back(line.size());
        for (std::size_t length = how.shortest_run; length <= how.longest_run; ++length)
            for (std::size_t i = 0; i + length < starts.size(); ++i)
                use(std::string_view(line).substr(starts[i], starts[i + length] - starts[i]), starts[i]);
    }

    static bool has_capital(std::string_view token) {
        const char* const end = token.data() + token.size();
        for (const char* at = token.data(); at != end;)
            if (characters::is_capital(characters::decode(at, end))) return true;
        return false;
    }

    std::string_view folded(std::string_view token) {
        if (!how.tokens.fold) return token;
        word.resize(3 * token.size() + 16);
        char* out = word.data();
        const char* const end = token.data() + token.size();
        for (const char* at = token.data(); at != end;)
            out = characters::all().write(characters::decode(at, end), true, out);
        return {word.data(), static_cast<std::size_t>(out - word.data())};
    }

    std::string_view marked(std::string_view token) {
        word.reserve(token.size() + 4 + readable);
        word.assign("NOT_");
        word += token;
        return word;
    }

    stream_settings how;
    tokenizer tokens;
    negation_scope scope;
    std::string word, line;
    std::vector<std::size_t> starts;  // of the line's characters
};

}  // namespace markone
