// Rows as they are made, and rows of weights that are found by keys.
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/order.h"
#include "rows/keyed_rows.h"
#include "rows/row_builder.h"
#include "rows/rows.h"
#include "rows/scattered_rows.h"
#include "rows/sparse_ops.h"
#include "tests/check.h"

namespace {

using namespace markone;

growing_rows counted(const std::vector<std::vector<std::uint32_t>>& texts) {
    growing_rows rows;
    row_counter counter;
    for (const auto& text : texts) {
        counter.begin_row(10, rows);
        for (const std::uint32_t feature : text) counter.count(feature, rows);
        rows.end_row();
    }
    return rows;
}

TEST(features_are_counted_in_each_row) {
    const growing_rows rows = counted({{3, 3, 0, 3}, {}, {0, 3, 0}});
    CHECK(rows.indptr == std::vector<std::int64_t>{0, 2, 2, 4});
    CHECK(rows.indices == std::vector<std::uint32_t>{3, 0, 0, 3});
    CHECK(rows.values == std::vector<float>{3, 1, 2, 1});
}

TEST(rows_are_views) {
    const growing_rows made = counted({{3, 3, 0}, {}, {1}});
    const sparse_rows<float> rows{made.indptr, made.indices, made.values, 10};
    CHECK(rows.size() == 3 && rows.width() == 10 && rows.stored() == 3);
    CHECK(rows[0].size() == 2 && rows[0].feature(0) == 3 && rows[0].value(0) == 2);
    CHECK(rows[1].size() == 0 && rows[2].feature(0) == 1);
    rows[1].prefetch();
    const std::vector<std::uint8_t> bytes{2, 1, 255};
    const counted_rows<double> counts{made.indptr, made.indices, bytes, 10};
    CHECK(counts[0].value(0) == 2 && counts[1].size() == 0 && counts[2].value(0) == 255);
    counts[0].prefetch();
    const std::vector<double> numbers{1, 2, 3, 4, 5, 6};
    const dense_rows<double> dense{numbers.data(), 2, 3};
    CHECK(dense[1].size() == 3 && dense[1].feature(2) == 2 && dense[1].value(2) == 6);
}

TEST(features_without_a_new_number_are_left_out) {
    const growing_rows made = counted({{0, 1, 2}, {1}});
    const std::vector<std::uint32_t> numbers{5, npos, 7};
    for (const std::vector<float>& values : {made.values, std::vector<float>()}) {
        const refined_rows rows = refine({made.indptr, made.indices, values, 3}, numbers, {});
        CHECK(rows.indptr == std::vector<std::int64_t>{0, 2, 2});
        CHECK(rows.stored == 2 && rows.indices[0] == 5 && rows.indices[1] == 7);
        CHECK(rows.values[0] == 1 && rows.values[1] == 1);
    }
}

TEST(rows_with_chosen_features_are_counted_by_class) {
    random_bits random(3);
    const std::size_t width = 200, count = 50;
    growing_rows made;
    std::vector<std::int32_t> labels;
    for (std::size_t row = 0; row < count; ++row) {
        for (std::uint32_t feature = 0; feature < width; ++feature)
            if (random.below(4) == 0) made.add(feature, static_cast<float>(random.below(2)));
        made.end_row();
        labels.push_back(static_cast<std::int32_t>(random.below(4)) - 1);
    }
    const sparse_rows<float> rows{made.indptr, made.indices, made.values, width};
    const std::vector<std::uint32_t> features{0, 63, 63, 63, 64, 130, 199, 199}, classes{1, 0, 1, 2, 1, 0, 0, 2};
    std::vector<std::int64_t> inside(features.size()), total(features.size()), of_class(features.size()), all(of_class);
    count_rows_with(rows, labels, {features, classes}, inside, total);
    for (std::size_t pair = 0; pair < features.size(); ++pair)
        for (std::size_t row = 0; row < count; ++row)
            for (std::size_t i = 0; i < rows[row].size(); ++i)
                if (labels[row] >= 0 && rows[row].feature(i) == features[pair] && rows[row].value(i) != 0) {
                    ++all[pair];
                    of_class[pair] += labels[row] == static_cast<std::int32_t>(classes[pair]);
                }
    CHECK(inside == of_class && total == all);
    const auto count_two = [&](std::uint32_t first, std::uint32_t second) {
        const std::vector<std::uint32_t> wrong{first, second};
        const std::span<std::int64_t> two(inside.data(), 2);
        count_rows_with(rows, labels, {wrong, {classes.data(), 2}}, two, two);
    };
    CHECK(tests::throws<std::invalid_argument>([&] { count_two(1, 0); }));
    CHECK(tests::throws<std::out_of_range>([&] { count_two(0, 200); }));
}

TEST(pages_stay_where_they_are) {
    pages<float> all(3);
    all.grow(1);
    float* const first = all[0];
    first[2] = 7;
    all.grow(100000);
    CHECK(all[0] == first && all[0][2] == 7 && all[99999][2] == 0);
}

TEST(averages_of_learned_rows_are_those_of_all_steps) {
    learned_rows rows(2);
    CHECK(rows.find(42) == npos);
    const std::uint32_t row = rows.row_of(42);
    CHECK(rows.row_of(42) == row && rows.find(42) == row && rows.size() == 1);
    rows.move(row, 1, 2, 0);   // 2 after steps 1 and 2
    rows.move(row, 1, -1, 2);  // 1 after steps 3 and 4
    CHECK(rows.weights(row)[1] == 1 && rows.weights(row)[0] == 0);
    CHECK(rows.weights(row)[1] - rows.sums(row)[1] / 4 == 1.5);
}

TEST(scattered_rows_keep_weights_when_they_move) {
    constexpr std::uint32_t columns = 50;
    scattered_rows rows;
    std::map<std::pair<std::uint64_t, std::uint32_t>, float> expected;
    random_bits random(1);
    for (int step = 0; step < 20000; ++step) {
        const std::uint64_t key = mix(1 + random.below(300));
        const auto column = static_cast<std::uint32_t>(random.below(columns));
        const auto amount = static_cast<float>(random.below(9)) - 4;
        rows.move(rows.row_of(key), column, amount, step);
        expected[{key, column}] += amount;
    }
    std::size_t entries = 0;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
        std::vector<float> scores(columns), wanted(columns);
        rows.add(row, scores.data());
        for (std::uint32_t column = 0; column < columns; ++column)
            if (const auto found = expected.find({rows.keys()[row], column}); found != expected.end())
                wanted[column] = found->second;
        CHECK(scores == wanted);
        CHECK(rows.find(rows.keys()[row]) == row);
        entries += rows.weights(row).size();
    }
    CHECK(entries == expected.size());
    CHECK(rows.find(mix(1000)) == npos);
}

}  // namespace
