
/* ---- texts: characters, tokens, n-grams */

enum { @_gap, @_word, @_sign, @_letter };

typedef struct {
    int fold, only_lower, only_negated, negation, keep_signs, see_signs, unspaced, emoji, within_words;
    int shortest_run, longest_run; /* of characters; 0 if tokens are words */
} @_how;

/* The n-grams of a part: their names and a hash table of their numbers, each plus 1. With hashes instead of names,
   n-grams are known by the first bits of their hashes, which others may share. */
typedef struct {
    @_how how;
    int shortest, longest; /* in tokens */
    const char *const *names;
    const uint64_t *hashes;
    const unsigned char *shared;
    const int *slots;
    unsigned mask;
    int bits;
} @_grams;

/* Tokens lie in `bytes`, each with a space before it; token i is from at[2 * i] to at[2 * i + 1]. */
typedef struct {
    char *bytes;
    size_t *at;
    uint32_t *points;
    uint64_t *hashes;
    size_t size, room, count, places;
    int failed;
} @_tokens;

/* The features of a row, with room for more. */
typedef struct {
    int *feature;
    double *value;
    size_t room;
} @_found;

static inline void @_free_tokens(@_tokens *of) {
    free(of->bytes);
    free(of->at);
    free(of->points);
    free(of->hashes);
}

/* Makes room for so many features; returns whether there is enough memory. */
static inline int @_reserve(@_found *to, size_t wanted) {
    if (wanted > to->room) {
        const size_t room = 2 * wanted;
        int *feature = (int *)realloc(to->feature, room * sizeof(int));
        double *value;
        if (feature != NULL) to->feature = feature;
        value = (double *)realloc(to->value, room * sizeof(double));
        if (value != NULL) to->value = value;
        if (feature == NULL || value == NULL) return 0;
        to->room = room;
    }
    return 1;
}

/* Whether a character is in one of the ranges, which are sorted: first, last, first, last and so on. */
static inline int @_within(const uint32_t *ranges, int count, uint32_t point) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (ranges[middle] <= point) low = middle + 1;
        else high = middle;
    }
    return low % 2 == 1 || (low > 0 && ranges[low - 1] == point);
}
#define @_IN(name, point) @_within(@_of_##name, (int)(sizeof @_of_##name / sizeof *@_of_##name), point)

static inline int @_kind(uint32_t point) {
    if (point < 128) return @_of_ascii[point];
    if (point == 0xfffd) return @_gap;
    return @_IN(words, point) ? @_word : @_IN(signs, point) ? @_sign : @_gap;
}

/* The role of a character: e(moji to come), f(lag), m(odifier), s(tacker), a (mark), u(nspaced), or 0. */
static inline char @_role(uint32_t point) {
    if (point < 128 || point == 0xfffd) return 0;
    return @_IN(emoji_to_come, point) ? 'e' : @_IN(flags, point) ? 'f' : @_IN(modifiers, point) ? 'm'
         : @_IN(stackers, point) ? 's' : @_IN(marks, point) ? 'a' : @_IN(unspaced, point) ? 'u' : 0;
}

static inline int @_is_selector(uint32_t point) { return point == 0xfe0e || point == 0xfe0f; }

/* The next character of a text in UTF-8; 0xfffd for bytes that are none. */
static inline uint32_t @_decode(const unsigned char **text) {
    const unsigned char *at = *text;
    const uint32_t first = at[0];
    const int more = first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : (first & 0xf0) == 0xe0 ? 2
                   : first >= 0xf0 && first < 0xf5 ? 3 : -1;
    uint32_t point = more > 0 ? first & (0x3fu >> more) : first;
    int i;
    for (i = 1; i <= more; ++i) {
        if ((at[i] & 0xc0) != 0x80) break;
        point = point << 6 | (at[i] & 0x3f);
    }
    if (more < 0 || i <= more || (more == 2 && (point < 0x800 || (point >= 0xd800 && point < 0xe000)))
        || (more == 3 && (point < 0x10000 || point > 0x10ffff))) {
        *text = at + 1;
        return 0xfffd;
    }
    *text = at + more + 1;
    return point;
}

static inline void @_put_byte(@_tokens *to, uint32_t byte) {
    if (to->size == to->room) {
        const size_t room = 2 * to->room + 256;
        char *bytes = (char *)realloc(to->bytes, room);
        if (bytes == NULL) {
            to->failed = 1;
            return;
        }
        to->bytes = bytes;
        to->room = room;
    }
    to->bytes[to->size++] = (char)(unsigned char)byte;
}

static inline void @_put_point(@_tokens *to, uint32_t point) {
    if (point < 0x80) {
        @_put_byte(to, point);
        return;
    }
    if (point < 0x800) @_put_byte(to, 0xc0 | point >> 6);
    else {
        if (point < 0x10000) @_put_byte(to, 0xe0 | point >> 12);
        else {
            @_put_byte(to, 0xf0 | point >> 18);
            @_put_byte(to, 0x80 | (point >> 12 & 0x3f));
        }
        @_put_byte(to, 0x80 | (point >> 6 & 0x3f));
    }
    @_put_byte(to, 0x80 | (point & 0x3f));
}

/* Adds a character in its folded case, which may be up to three characters. */
static inline void @_put(@_tokens *to, uint32_t point, int fold) {
    if (fold && point < 128) {
        @_put_byte(to, point >= 'A' && point <= 'Z' ? point + 32 : point);
        return;
    }
    if (fold) {
        const int count = (int)(sizeof @_of_foldings / sizeof *@_of_foldings / 4);
        int low = 0, high = count - 1, i;
        while (low <= high) {
            const int middle = low + (high - low) / 2;
            const uint32_t *const here = @_of_foldings + 4 * middle;
            if (here[0] == point) {
                for (i = 1; i < 4; ++i)
                    if (here[i] != 0) @_put_point(to, here[i]);
                return;
            }
            if (here[0] > point) high = middle - 1;
            else low = middle + 1;
        }
    }
    @_put_point(to, point);
}

static inline void @_add_place(@_tokens *to, size_t begin, size_t end) {
    if (to->count == to->places) {
        const size_t places = 2 * to->places + 64;
        size_t *at = (size_t *)realloc(to->at, 2 * places * sizeof(size_t));
        if (at == NULL) {
            to->failed = 1;
            return;
        }
        to->at = at;
        to->places = places;
    }
    to->at[2 * to->count] = begin;
    to->at[2 * to->count + 1] = end;
    ++to->count;
}

/* Adds all runs of characters in a line. */
static inline void @_add_runs(@_tokens *to, const @_how *how, size_t begin, size_t end) {
    int size, i;
    size_t from, until;
    for (size = how->shortest_run; size <= how->longest_run && !to->failed; ++size) {
        for (from = begin, until = begin, i = 0; ; ++from) {
            while (from < end && (to->bytes[from] & 0xc0) == 0x80) ++from; /* to the begin of a character */
            while (i < size && until < end) {
                ++until;
                while (until < end && (to->bytes[until] & 0xc0) == 0x80) ++until;
                ++i;
            }
            if (i < size) break;
            @_add_place(to, from, until);
            --i;
        }
    }
}

static inline int @_is_negation(const char *word, size_t size) {
    static const char *const all[] = {"cannot", "neither", "never", "no", "nobody", "none",
                                      "nor", "not", "nothing", "nowhere", "without"};
    size_t i, k;
    for (i = 0; i < sizeof all / sizeof *all; ++i) {
        for (k = 0; k < size && all[i][k] != 0; ++k)
            if ((word[k] >= 'A' && word[k] <= 'Z' ? word[k] + 32 : word[k]) != all[i][k]) break;
        if (k == size && all[i][k] == 0) return 1;
    }
    return 0;
}

static inline int @_is_end(uint32_t point) {
    static const uint32_t all[] = {'.', ',', ';', ':', '!', '?', '(', ')', '[', ']', '{', '}', '"', 0x2026, 0x2014, 0x2013,
                                   0x201c, 0x201d, 0xab, 0xbb, 0x3002, 0xff0c, 0x3001, 0xff1b, 0xff1a, 0xff01, 0xff1f,
                                   0x964, 0x60c, 0x61b, 0x61f};
    size_t i;
    for (i = 0; i < sizeof all / sizeof *all; ++i)
        if (all[i] == point) return 1;
    return 0;
}

static inline int @_kind_at(const uint32_t *points, size_t at, size_t count, const @_how *how) {
    const uint32_t point = points[at];
    const int kind = @_kind(point);
    char role;
    if (point < 128) {
        const size_t key = at + 1 < count && points[at + 1] == 0xfe0f ? at + 2 : at + 1;
        return how->emoji && point >= '0' && point <= '9' && key < count && points[key] == 0x20e3 ? @_sign : kind;
    }
    role = @_role(point);
    if (role == 'u' && how->unspaced) return @_letter;
    if (role == 'e' && how->emoji) return @_sign;
    return how->emoji && @_is_selector(point) ? @_gap : kind;
}

/* Makes the tokens of a text. */
static inline void @_tokenize(const char *text, const @_how *how, @_tokens *to) {
    const unsigned char *left = (const unsigned char *)(text == NULL ? "" : text);
    const int by_word = how->longest_run > 0 && how->within_words;
    const int fold = how->fold && !how->only_lower;
    size_t count = 0, at = 0, begin = 0, start = 0;
    int open = 0, after_n = 0, after_apostrophe = 0, has_capital = 0, kind;
    uint32_t *points = (uint32_t *)malloc((strlen((const char *)left) + 1) * sizeof(uint32_t));
    if (points == NULL) {
        to->failed = 1;
        return;
    }
    to->points = points;
    while (*left != 0) points[count++] = @_decode(&left);
    while (at < count && !to->failed) {
        const uint32_t point = points[at];
        size_t first = at;
        int keep, flag;
        kind = @_kind_at(points, at, count, how);
        if (kind == @_gap) {
            ++at;
            continue;
        }
        begin = to->size;
        @_put_byte(to, ' ');
        if (kind != @_sign && !by_word && !how->only_lower && open && (how->negation || how->only_negated)) {
            @_put_byte(to, 'N'), @_put_byte(to, 'O'), @_put_byte(to, 'T'), @_put_byte(to, '_');
        }
        start = to->size;
        has_capital = 0;
        if (kind == @_word) {
            for (; at < count && @_kind_at(points, at, count, how) == @_word; ++at) {
                if (how->only_lower && @_IN(capitals, points[at])) has_capital = 1;
                @_put(to, points[at], how->fold);
            }
        } else {
            int stacked = 0;
            if (how->only_lower && @_IN(capitals, point)) has_capital = 1;
            @_put(to, point, kind == @_letter ? how->fold : fold);
            ++at;
            flag = @_role(point) == 'f';
            while (at < count && (kind == @_letter || how->emoji)) {
                const char role = @_role(points[at]);
                if (kind == @_letter) {
                    const int is_mark =
                        role == 'a' || role == 's' || (role == 'm' && @_kind(points[at]) == @_word);
                    if (!is_mark && !(stacked && role == 'u')) break;
                    stacked = role == 's';
                    if (how->only_lower && @_IN(capitals, points[at])) has_capital = 1;
                    @_put(to, points[at++], how->fold);
                    continue;
                }
                if (points[at] == 0x200d) {
                    if (at + 1 == count || (@_kind(points[at + 1]) != @_sign && @_role(points[at + 1]) != 'e')) break;
                    @_put(to, 0x200d, 0);
                    @_put(to, points[at + 1], fold);
                    at += 2;
                    flag = 0;
                    continue;
                }
                if (role != 'm' && !(flag && role == 'f')) break;
                flag = 0;
                if (!@_is_selector(points[at])) @_put(to, points[at], fold);
                ++at;
            }
        }
        if (to->failed) break;
        if (by_word) {
            keep = kind == @_word;
            if (keep) {
                @_put_byte(to, ' ');
                if (!to->failed) @_add_runs(to, how, begin, to->size);
            }
        } else if (kind == @_sign) {
            if (how->see_signs) {
                after_apostrophe = after_n && at == first + 1 && (point == '\'' || point == 0x2019);
                after_n = 0;
                if (at == first + 1 && @_is_end(point)) open = 0;
            }
            keep = how->keep_signs;
        } else if (how->only_lower) {
            keep = !has_capital;
        } else {
            const char *const word = to->bytes + start;
            const size_t size = to->size - start;
            const int negated = open;
            if (!open) open = size == 1 && (*word == 't' || *word == 'T') ? after_apostrophe : @_is_negation(word, size);
            after_n = size > 0 && (word[size - 1] == 'n' || word[size - 1] == 'N');
            after_apostrophe = 0;
            keep = !how->only_negated || negated;
        }
        if (!keep) to->size = begin;
        else if (how->longest_run == 0) @_add_place(to, begin + 1, to->size);
    }
    if (how->longest_run > 0 && !by_word && to->size > 0 && !to->failed) {
        @_put_byte(to, ' ');
        if (!to->failed) @_add_runs(to, how, 0, to->size);
    }
}

/* ---- hashes */

static inline uint64_t @_mixed(uint64_t z) {
    z = (z ^ z >> 32) * 0xd6e8feb86659fd93u;
    z = (z ^ z >> 32) * 0xd6e8feb86659fd93u;
    return z ^ z >> 32;
}

static inline uint64_t @_load(const char *from, size_t count) {
    uint64_t found = 0;
    while (count > 0) found = found << 8 | (unsigned char)from[--count];
    return found;
}

static inline uint64_t @_hash(const char *bytes, size_t size) {
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t found = size * odd;
    size_t at;
    if (size < 8) return @_mixed(found ^ @_load(bytes, size));
    for (at = 0; at + 8 < size; at += 8) found = @_mixed(found ^ @_load(bytes + at, 8)) + odd;
    return @_mixed(found ^ @_load(bytes + size - 8, 8));
}

/* The number of the n-gram of `size` tokens from token i on; -1 if it is no feature. */
static inline int @_find_gram(const @_grams *in, const @_tokens *of, size_t i, int size) {
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    const size_t begin = of->at[2 * i], end = of->at[2 * (i + (size_t)size - 1) + 1];
    uint64_t hash;
    unsigned slot;
    int k;
    if (in->hashes == NULL) {
        hash = @_hash(of->bytes + begin, end - begin);
        for (slot = (unsigned)(hash & in->mask); in->slots[slot] != 0; slot = (slot + 1) & in->mask) {
            const int number = in->slots[slot] - 1;
            if (strncmp(in->names[number], of->bytes + begin, end - begin) == 0
                && in->names[number][end - begin] == 0) return number;
        }
        return -1;
    }
    hash = of->hashes[i];
    for (k = 1; k < size; ++k) hash = @_mixed(hash * odd + of->hashes[i + (size_t)k]);
    slot = (unsigned)((hash >> (64 - in->bits)) & in->mask);
    for (; in->slots[slot] != 0; slot = (slot + 1) & in->mask) {
        const int number = in->slots[slot] - 1;
        if (in->hashes[number] >> (64 - in->bits) != hash >> (64 - in->bits)) continue;
        return in->shared[number] || (uint32_t)(in->hashes[number] ^ hash) == 0 ? number : -1;
    }
    return -1;
}

/* Adds the n-grams of a text to the features of a row, in the order in which they are met, with their counts. Returns
   how many features the row then has; -1 if there is not enough memory. */
static inline int @_add_grams(const @_grams *in, const char *text, @_found *to, int n, int more) {
    @_tokens tokens = {NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0};
    unsigned *seen = NULL;
    size_t i, most = 0, mask = 63;
    int size;
    @_tokenize(text, &in->how, &tokens);
    for (size = in->shortest; size <= in->longest; ++size)
        if (tokens.count >= (size_t)size) most += tokens.count - (size_t)size + 1;
    while (mask < 2 * most) mask = 2 * mask + 1;
    if (in->hashes != NULL) {
        tokens.hashes = (uint64_t *)malloc((tokens.count + 1) * sizeof(uint64_t));
        if (tokens.hashes == NULL) tokens.failed = 1;
        for (i = 0; i < tokens.count && !tokens.failed; ++i)
            tokens.hashes[i] = @_hash(tokens.bytes + tokens.at[2 * i], tokens.at[2 * i + 1] - tokens.at[2 * i]);
    }
    if (!tokens.failed) seen = (unsigned *)calloc(mask + 1, sizeof(unsigned));
    if (seen == NULL || most > INT_MAX / 4 || !@_reserve(to, (size_t)n + most + (size_t)more)) {
        free(seen);
        @_free_tokens(&tokens);
        return -1;
    }
    for (size = in->shortest; size <= in->longest; ++size) {
        for (i = 0; i + (size_t)size <= tokens.count; ++i) {
            const int number = @_find_gram(in, &tokens, i, size);
            size_t slot = ((unsigned)number * 2654435769u) & mask;
            if (number < 0) continue;
            while (seen[slot] != 0 && to->feature[seen[slot] - 1] != number) slot = (slot + 1) & mask;
            if (seen[slot] == 0) {
                to->feature[n] = number;
                to->value[n++] = 0;
                seen[slot] = (unsigned)n;
            }
            to->value[seen[slot] - 1] += 1;
        }
    }
    free(seen);
    @_free_tokens(&tokens);
    return n;
}

/* Counts how often the n-grams of a part occur in a text, and its tokens; returns 0 if there is not enough memory. */
static inline int @_count_entries(const @_grams *in, const char *text, double *counts, int entries) {
    @_tokens tokens = {NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0};
    int size, number;
    size_t i;
    @_tokenize(text, &in->how, &tokens);
    for (number = 0; number < entries; ++number) counts[number] = 0;
    for (size = in->shortest; size <= in->longest && !tokens.failed; ++size)
        for (i = 0; i + (size_t)size <= tokens.count; ++i)
            if ((number = @_find_gram(in, &tokens, i, size)) >= 0) counts[number] += 1;
    counts[entries] = (double)tokens.count;
    number = !tokens.failed;
    @_free_tokens(&tokens);
    return number;
}
