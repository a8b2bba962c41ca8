// Images -> patterns: which pixels are on in each small square of an image.
//
// A pattern's key is the number of its place times 2^(size * size), plus the pattern itself: one bit for each pixel,
// from left to right and from top to bottom, the first one highest. A square in which all pixels are off has no key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/hash_table.h"

namespace markone {

// Images of one size, one after the other; a pixel is on if its value is at least `level`.
struct image_block {
    const std::uint8_t* pixels;
    std::size_t count, height, width;
    std::uint8_t level;

    const std::uint8_t* image(std::size_t i) const { return pixels + i * height * width; }
};

// Reads the keys of one image after the other, in the order of their places.
class patch_reader {
  public:
    patch_reader(const image_block& images, std::size_t size) : images(images), size(size) {
        if (size < 2 || size > 4) throw std::invalid_argument("patches are of 2 to 4 pixels across");
        if (images.height < size || images.width < size) throw std::invalid_argument("the images are too small");
        if (images.height * images.width > std::size_t{1} << 32) throw std::length_error("the images are too large");
        strips.resize(images.height * columns());
        patterns.resize(columns());
    }

    // Calls use(key) for every pattern of image i.
    template <class Use>
    void each(std::size_t i, Use use) {
        for (std::size_t row = 0; row < images.height; ++row) read_strips(images.image(i) + row * images.width, row);
        for (std::size_t row = 0; row + size <= images.height; ++row) {
            const std::uint16_t* from = strips.data() + row * columns();
            for (std::size_t at = 0; at < columns(); ++at) patterns[at] = from[at];
            for (std::size_t more = 1; more < size; ++more) {
                from += columns();
                for (std::size_t at = 0; at < columns(); ++at)
                    patterns[at] = static_cast<std::uint16_t>(patterns[at] << size | from[at]);
            }
            for (std::size_t at = 0; at < columns(); ++at)
                if (patterns[at] != 0) use(std::uint64_t{row * columns() + at} << size * size | patterns[at]);
        }
    }

  private:
    std::size_t columns() const { return images.width - size + 1; }

    // A strip is `size` pixels of one row.
    void read_strips(const std::uint8_t* pixels, std::size_t row) {
        std::uint16_t* to = strips.data() + row * columns();
        for (std::size_t at = 0; at < columns(); ++at) to[at] = 0;
        for (std::size_t pixel = 0; pixel < size; ++pixel)
            for (std::size_t at = 0; at < columns(); ++at)
                to[at] = static_cast<std::uint16_t>(to[at] << 1 | (pixels[at + pixel] >= images.level));
    }

    image_block images;
    std::size_t size;
    std::vector<std::uint16_t> strips, patterns;
};

// Keys, numbered in the order of their first occurrence, and their counts.
class pattern_table {
  public:
    pattern_table() = default;
    // Makes the table from known keys, which must all differ.
    explicit pattern_table(std::span<const std::uint64_t> known) : counts(known.size()) {
        keys.reserve(known.size());
        for (std::size_t i = 0; i < known.size(); ++i)
            if (keys.find_or_add(known[i]) != i) throw std::invalid_argument("a pattern is there twice");
    }

    key_table<std::uint64_t> keys;
    std::vector<std::int64_t> counts;

    void add(std::uint64_t key, std::int64_t count) {
        const std::uint32_t number = keys.find_or_add(key);
        if (number == counts.size()) counts.push_back(0);
        counts[number] += count;
    }
    void add(const pattern_table& more) {
        for (std::size_t i = 0; i < more.keys.size(); ++i) add(more.keys[i], more.counts[i]);
    }
    std::uint32_t find(std::uint64_t key) const { return keys.find(key); }

    // Renumbers the keys: number i is the old number order[i].
    void reorder(std::span<const std::int64_t> order) {
        std::vector<bool> met(keys.size());
        pattern_table ordered;
        for (const std::int64_t number : order) {
            const auto from = static_cast<std::size_t>(number);
            if (number < 0 || from >= keys.size() || met[from]) throw std::invalid_argument("no such order");
            met[from] = true;
            ordered.add(keys[from], counts[from]);
        }
        if (order.size() != keys.size()) throw std::invalid_argument("no such order");
        *this = std::move(ordered);
    }
};

// Counts the patterns that a `Reader` finds in images.
template <class Reader>
void count_patterns(const image_block& images, Reader reader, pattern_table& patterns) {
    for (std::size_t i = 0; i < images.count; ++i) reader.each(i, [&](std::uint64_t key) { patterns.add(key, 1); });
}

// The known patterns of images, by number: row i is indices[indptr[i] : indptr[i + 1]].
template <class Reader>
void find_patterns(const image_block& images, Reader reader, const pattern_table& patterns,
                   std::vector<std::int64_t>& indptr, std::vector<std::uint32_t>& indices) {
    indptr.assign(1, 0);
    indptr.reserve(images.count + 1);
    for (std::size_t i = 0; i < images.count; ++i) {
        reader.each(i, [&](std::uint64_t key) {
            const std::uint32_t number = patterns.find(key);
            if (number != npos) indices.push_back(number);
        });
        indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
}

}  // namespace markone
