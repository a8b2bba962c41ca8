// Compiled once for each MARKONE_LEVEL: `baseline` for every processor, `v3` for x86-64-v3.
#include "network/network.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/exponential.h"
#include "base/logarithm.h"
#include "base/order.h"
#include "rows/arithmetic.h"

namespace markone::MARKONE_LEVEL {

namespace {

constexpr std::size_t lanes = register_bytes / sizeof(float);
using pack = pack_of<float, lanes>::type;

constexpr std::size_t rows_at_once = 64;                   // rows that are scored together
constexpr std::size_t features_at_once = 32;               // features whose gradients are computed together
constexpr std::size_t features_ahead = 8;                  // features that are prefetched
constexpr std::size_t near_enough = std::size_t{1} << 18;  // up to this number of weights, prefetching is no gain

MARKONE_INLINE pack loaded(const float* from) {
    pack values;
    std::memcpy(&values, from, sizeof values);
    return values;
}
MARKONE_INLINE void store(float* to, pack values) {
    std::memcpy(to, &values, sizeof values);
}

// While this object exists, subnormal numbers are treated as 0. Gradients of examples that are already learned become
// subnormal, and processors are a hundred times slower with such numbers.
class without_subnormals {
  public:
#if defined(__SSE2__)
    without_subnormals() : before(_mm_getcsr()) { _mm_setcsr(before | flush_results | flush_operands); }
    ~without_subnormals() { _mm_setcsr(before); }
#elif defined(__aarch64__)
    without_subnormals() {
        asm volatile("mrs %0, fpcr" : "=r"(before));
        asm volatile("msr fpcr, %0" : : "r"(before | flush_to_zero));
    }
    ~without_subnormals() { asm volatile("msr fpcr, %0" : : "r"(before)); }
#else
    without_subnormals() = default;
#endif
    without_subnormals(const without_subnormals&) = delete;
    without_subnormals& operator=(const without_subnormals&) = delete;

  private:
#if defined(__SSE2__)
    static constexpr unsigned flush_results = 0x8000, flush_operands = 0x0040;
    unsigned before;
#elif defined(__aarch64__)
    static constexpr std::uint64_t flush_to_zero = std::uint64_t{1} << 24;
    std::uint64_t before;
#endif
};

// ---- functions of one number, without branches, so that compilers can vectorise them

// e^x = 2^n e^r with n = round(x / ln 2), as in exponential.h; x is clipped to the valid range.
MARKONE_INLINE float power_of_e(float x) {
    constexpr float to_whole = 12582912.0F;  // 1.5 * 2^23: adding it rounds away the fraction
    x = x < -87.0F ? -87.0F : x;
    x = x > 88.0F ? 88.0F : x;
    const float n = (x * 1.44269504F + to_whole) - to_whole;
    const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
    float sum = 1.0F / 720;
    sum = sum * r + 1.0F / 120;
    sum = sum * r + 1.0F / 24;
    sum = sum * r + 1.0F / 6;
    sum = sum * r + 0.5F;
    sum = sum * r + 1;
    sum = sum * r + 1;
    return sum * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

MARKONE_INLINE float sigmoid(float x) {
    return 1 / (1 + power_of_e(-x));
}

// Uses the series near 0, where 1 - 2 / (e^2x + 1) would lose precision (Cephes, Moshier 1989).
MARKONE_INLINE float hyperbolic_tangent(float x) {
    const float size = x < 0 ? -x : x, square = x * x;
    float series = -5.70498872745e-3F;
    series = series * square + 2.06390887954e-2F;
    series = series * square - 5.37397155531e-2F;
    series = series * square + 1.33314422036e-1F;
    series = series * square - 3.33332819422e-1F;
    const float near = x + x * square * series;
    const float far = 1 - 2 / (power_of_e(2 * size) + 1);
    const float signed_far = x < 0 ? -far : far;
    return size < 0.625F ? near : signed_far;
}

// Each activation function and its derivative, as a function of its value.
struct relu {
    static float value(float z) { return z > 0 ? z : 0; }
    static float slope(float a) { return a > 0 ? 1.0F : 0.0F; }
};
struct tangent {
    static float value(float z) { return hyperbolic_tangent(z); }
    static float slope(float a) { return 1 - a * a; }
};
struct logistic {
    static float value(float z) { return sigmoid(z); }
    static float slope(float a) { return a * (1 - a); }
};

template <class Use>
void with_bend(bend by, Use use) {
    switch (by) {
        case bend::relu: return use(relu{});
        case bend::tanh: return use(tangent{});
        case bend::sigmoid: return use(logistic{});
    }
}

// ---- optimizers: each changes one register of weights, from j on

#if defined(__AVX2__)
MARKONE_INLINE pack root(pack values) {
    return _mm256_sqrt_ps(values);
}
#elif defined(__SSE2__)
MARKONE_INLINE pack root(pack values) {
    return _mm_sqrt_ps(values);
}
#else
MARKONE_INLINE pack root(pack values) {
    for (std::size_t lane = 0; lane < lanes; ++lane) values[lane] = std::sqrt(values[lane]);
    return values;
}
#endif

// w -= rate g
struct sgd {
    float rate;
    MARKONE_INLINE void step(pack g, std::size_t j, float* w, float*, float*) const {
        store(w + j, loaded(w + j) - rate * g);
    }
};

// AdaGrad (Duchi, Hazan & Singer 2011): s += g^2,  w -= rate g / sqrt(s)
struct adagrad {
    float rate;
    MARKONE_INLINE void step(pack g, std::size_t j, float* w, float*, float* squares) const {
        constexpr float tiny = 1e-10F;
        const pack s = loaded(squares + j) + g * g;
        store(squares + j, s);
        store(w + j, loaded(w + j) - rate * g / (root(s) + tiny));
    }
};

// Adam (Kingma & Ba 2015): m = b1 m + (1 - b1) g,  s = b2 s + (1 - b2) g^2,  w -= rate m / (sqrt(s) + tiny), where the
// rate contains the correction for means that start at 0.
struct adam {
    float rate;
    MARKONE_INLINE void step(pack g, std::size_t j, float* w, float* mean, float* squares) const {
        constexpr auto b1 = static_cast<float>(kept_of_mean), b2 = static_cast<float>(kept_of_squares);
        constexpr float tiny = 1e-8F;
        const pack m = b1 * loaded(mean + j) + (1 - b1) * g;
        const pack s = b2 * loaded(squares + j) + (1 - b2) * (g * g);
        store(mean + j, m);
        store(squares + j, s);
        store(w + j, loaded(w + j) - rate * m / (root(s) + tiny));
    }
};

template <class Optimizer>
void step_by(Optimizer by, std::size_t n, const float* g, float* w, float* mean, float* squares, float strength) {
    for (std::size_t j = 0; j < n; j += lanes) by.step(loaded(g + j) + strength * loaded(w + j), j, w, mean, squares);
}

void step(optimizer how, std::size_t n, const float* g, float* w, float* mean, float* squares, float rate,
          float strength) {
    switch (how) {
        case optimizer::sgd: return step_by(sgd{rate}, n, g, w, mean, squares, strength);
        case optimizer::adagrad: return step_by(adagrad{rate}, n, g, w, mean, squares, strength);
        case optimizer::adam: return step_by(adam{rate}, n, g, w, mean, squares, strength);
    }
}

// ---- matrices

// A matrix that is read by rows or by columns: entry (row, k) is at[row * by_row + k * by_k].
struct strided {
    const float* at;
    std::size_t by_row, by_k;
};

template <std::size_t rows, std::size_t packs>
MARKONE_INLINE void multiply_tile(strided a, std::size_t inner, const float* panel, float* c, std::size_t stride) {
    pack sums[rows][packs];
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t p = 0; p < packs; ++p) sums[r][p] = loaded(c + r * stride + p * lanes);
    for (std::size_t k = 0; k < inner; ++k, panel += packs * lanes) {
        pack b[packs];
        for (std::size_t p = 0; p < packs; ++p) b[p] = loaded(panel + p * lanes);
        for (std::size_t r = 0; r < rows; ++r) {
            const float x = a.at[r * a.by_row + k * a.by_k];
            for (std::size_t p = 0; p < packs; ++p) sums[r][p] += b[p] * x;
        }
    }
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t p = 0; p < packs; ++p) store(c + r * stride + p * lanes, sums[r][p]);
}

// Copies some columns of b so that they are adjacent. Otherwise they would compete for a few cache lines.
template <std::size_t packs>
void multiply_columns(strided a, std::size_t rows, std::size_t inner, const float* b, float* c, std::size_t stride,
                      std::vector<float>& panel) {
    constexpr std::size_t width = packs * lanes;
    panel.resize(inner * width);
    for (std::size_t k = 0; k < inner; ++k) std::copy_n(b + k * stride, width, panel.data() + k * width);
    std::size_t r = 0;
    const auto from = [&](std::size_t row) { return strided{a.at + row * a.by_row, a.by_row, a.by_k}; };
    for (; r + 4 <= rows; r += 4) multiply_tile<4, packs>(from(r), inner, panel.data(), c + r * stride, stride);
    for (; r < rows; ++r) multiply_tile<1, packs>(from(r), inner, panel.data(), c + r * stride, stride);
}

// c += a b, for a of rows x inner and b of inner x stride.
void multiply(strided a, std::size_t rows, std::size_t inner, const float* b, float* c, std::size_t stride,
              std::vector<float>& panel) {
    std::size_t column = 0;
    for (; column + 2 * lanes <= stride; column += 2 * lanes)
        multiply_columns<2>(a, rows, inner, b + column, c + column, stride, panel);
    if (column < stride) multiply_columns<1>(a, rows, inner, b + column, c + column, stride, panel);
}

// Adds a few rows of a table with factors: `to` += x_0 table[at_0] + x_1 table[at_1] + ...
template <std::size_t packs>
MARKONE_INLINE void add_rows_columns(std::span<const std::uint32_t> at, const float* x, const float* table,
                                     std::size_t stride, float* to) {
    pack sums[packs];
    for (std::size_t p = 0; p < packs; ++p) sums[p] = loaded(to + p * lanes);
    for (std::size_t i = 0; i < at.size(); ++i) {
        const float* from = table + at[i] * stride;
        for (std::size_t p = 0; p < packs; ++p) sums[p] += loaded(from + p * lanes) * x[i];
    }
    for (std::size_t p = 0; p < packs; ++p) store(to + p * lanes, sums[p]);
}

void add_rows(std::span<const std::uint32_t> at, const float* x, const float* table, std::size_t stride, float* to) {
    std::size_t column = 0;
    for (; column + 8 * lanes <= stride; column += 8 * lanes)
        add_rows_columns<8>(at, x, table + column, stride, to + column);
    for (; column + 4 * lanes <= stride; column += 4 * lanes)
        add_rows_columns<4>(at, x, table + column, stride, to + column);
    for (; column + 2 * lanes <= stride; column += 2 * lanes)
        add_rows_columns<2>(at, x, table + column, stride, to + column);
    for (; column < stride; column += lanes) add_rows_columns<1>(at, x, table + column, stride, to + column);
}

// ---- a batch of rows

// A copy of some rows: without zeros, or as a matrix if dense rows have few zeros.
class batch {
  public:
    std::size_t count = 0, width = 0;
    bool dense = false;
    std::vector<float> matrix;  // count x width, if the copy is dense

    template <class Rows, class Pick>
    void gather(const Rows& rows, std::size_t how_many, Pick pick) {
        using scalar = typename decltype(rows[0])::scalar;
        constexpr bool may_be_dense = std::is_same_v<Rows, dense_rows<scalar>>;
        count = how_many;
        width = rows.width();
        starts.assign(1, 0);
        std::size_t stored = 0;
        for (std::size_t i = 0; i < count; ++i) stored += rows[pick(i)].size();
        if (index.size() < stored) {
            values.resize(stored);
            index.resize(stored);  // comes last, because its size shows that there is enough memory
        }
        packer<scalar> pack_row;
        std::size_t end = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const auto x = pack_row(rows[pick(i)]);
            std::copy_n(x.index, x.size(), index.data() + end);
            std::transform(x.values, x.values + x.size(), values.data() + end,
                           [](scalar value) { return static_cast<float>(value); });
            end = may_be_dense ? end + x.size() : drop_zeros(end, end + x.size());
            starts.push_back(end);
        }
        dense = may_be_dense && 2 * end > count * width;
        if constexpr (may_be_dense) {
            if (!dense) return;
            matrix.resize(count * width);
            for (std::size_t i = 0; i < count; ++i) {
                const auto x = rows[pick(i)];
                for (std::size_t j = 0; j < width; ++j) matrix[i * width + j] = static_cast<float>(x.value(j));
            }
        }
    }

    std::size_t stored() const { return starts.back(); }
    std::span<const std::uint32_t> features(std::size_t row) const {
        return {index.data() + starts[row], starts[row + 1] - starts[row]};
    }
    const float* values_of(std::size_t row) const { return values.data() + starts[row]; }

  private:
    // Removes the zeros among the values from `first` on, and returns the new end.
    std::size_t drop_zeros(std::size_t first, std::size_t last) {
        std::size_t end =
            static_cast<std::size_t>(std::find(values.data() + first, values.data() + last, 0.0F) - values.data());
        for (std::size_t i = end; i < last; ++i) {
            index[end] = index[i];
            values[end] = values[i];
            end += values[i] != 0;
        }
        return end;
    }

    std::vector<std::size_t> starts;
    std::vector<std::uint32_t> index;
    std::vector<float> values;
};

// The same batch by features: which occur, in which rows, and with which values.
class by_feature {
  public:
    std::vector<std::uint32_t> features;  // in the order of their first occurrence

    // All `places` are 0 before and after.
    void turn(const batch& from, std::uint32_t* places) {
        features.clear();
        ends.clear();
        features.reserve(from.stored());
        ends.reserve(from.stored() + 1);
        rows.resize(from.stored());
        values.resize(from.stored());
        for (std::size_t row = 0; row < from.count; ++row)
            for (const std::uint32_t feature : from.features(row)) {
                if (places[feature] == 0) {
                    features.push_back(feature);
                    ends.push_back(0);
                    places[feature] = static_cast<std::uint32_t>(features.size());
                }
                ++ends[places[feature] - 1];
            }
        std::size_t start = 0;
        for (std::size_t& end : ends) {
            const std::size_t length = end;
            end = start;  // the index of its next entry
            start += length;
        }
        for (std::size_t row = 0; row < from.count; ++row) {
            const auto met = from.features(row);
            for (std::size_t i = 0; i < met.size(); ++i) {
                const std::size_t at = ends[places[met[i]] - 1]++;
                rows[at] = static_cast<std::uint32_t>(row);
                values[at] = from.values_of(row)[i];
            }
        }
        for (const std::uint32_t feature : features) places[feature] = 0;
    }

    std::span<const std::uint32_t> rows_of(std::size_t i) const { return {rows.data() + start(i), ends[i] - start(i)}; }
    const float* values_of(std::size_t i) const { return values.data() + start(i); }

  private:
    std::size_t start(std::size_t i) const { return i == 0 ? 0 : ends[i - 1]; }

    std::vector<std::size_t> ends;
    std::vector<std::uint32_t> rows;
    std::vector<float> values;
};

// ---- forwards

// z_0 = x w_0 + bias_0
void enter(const batch& x, const layer& first, float* z, std::vector<float>& panel) {
    const std::size_t stride = first.stride();
    for (std::size_t row = 0; row < x.count; ++row) std::copy_n(first.bias, stride, z + row * stride);
    if (x.dense) {
        multiply({x.matrix.data(), x.width, 1}, x.count, x.width, first.w, z, stride, panel);
        return;
    }
    const bool far = first.inputs * stride > near_enough;
    for (std::size_t row = 0; row < x.count; ++row) {
        const auto features = x.features(row);
        if (far)
            for (const std::uint32_t feature : features) prefetch_lines(first.w + feature * stride, stride);
        add_rows(features, x.values_of(row), first.w, stride, z + row * stride);
    }
}

// z_l = a_(l-1) w_l + bias_l
void go_on(const std::vector<float>& a, std::size_t count, const layer& to, float* z, std::vector<float>& panel) {
    for (std::size_t row = 0; row < count; ++row) std::copy_n(to.bias, to.stride(), z + row * to.stride());
    multiply({a.data(), padded(to.inputs), 1}, count, to.inputs, to.w, z, to.stride(), panel);
}

template <class Rows>
void score(const network& net, const Rows& rows, float* out) {
    if (rows.width() > net.features()) throw std::invalid_argument("rows are wider than the weights");
    const without_subnormals quick;
    batch x;
    std::vector<float> a, z, panel;
    for (std::size_t first = 0; first < rows.size(); first += rows_at_once) {
        const std::size_t count = std::min(rows_at_once, rows.size() - first);
        x.gather(rows, count, [&](std::size_t i) { return first + i; });
        z.resize(count * net.layers[0].stride());
        enter(x, net.layers[0], z.data(), panel);
        for (std::size_t l = 1; l < net.layers.size(); ++l) {
            with_bend(net.by, [&]<class Bend>(Bend) {
                for (float& value : z) value = Bend::value(value);
            });
            std::swap(a, z);
            z.resize(count * net.layers[l].stride());
            go_on(a, count, net.layers[l], z.data(), panel);
        }
        const std::size_t columns = net.columns();
        for (std::size_t row = 0; row < count; ++row) out = std::copy_n(z.data() + row * padded(columns), columns, out);
    }
}

// ---- backwards

class teacher {
  public:
    teacher(const network& net, teaching& how)
        : net(net), how(how), last(net.layers.size() - 1), a(last), slopes(last), d(net.layers.size()) {}

    // Makes one step with the rows of some visits.
    template <class Rows>
    void teach(const Rows& rows, const visits& which, std::size_t first, std::size_t count, tally& told) {
        const std::size_t classes = net.columns() == 1 ? 2 : net.columns();
        double total = 0;
        picked.clear();
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t row = which.row(first + i, rows.size());
            picked.push_back({row, which.label(row, classes), which.importance_of(row)});
            total += picked.back().importance;
            told.visits += picked.back().importance > 0;
        }
        if (total == 0) return;
        told.importance += total;
        x.gather(rows, count, [&](std::size_t i) { return picked[i].row; });
        meet_features();
        go_forward();
        for (std::size_t i = 0; i < count; ++i) {
            const double h = picked[i].importance;
            judge(d[last].data() + i * net.layers[last].stride(), picked[i].y, h, h / total, told);
        }
        for (std::size_t l = last; l > 0; --l) {
            pass_back(l);
            step_layer(l);
        }
        step_features();
        ++how.steps;
        ++told.updates;
    }

  private:
    struct example {
        std::size_t row, y;
        double importance;
    };

    void meet_features() {
        if (x.dense) {
            occurs.assign(x.width, 0);
            for (std::size_t row = 0; row < x.count; ++row)
                for (std::size_t i = 0; i < x.width; ++i) occurs[i] |= x.matrix[row * x.width + i] != 0;
            for (std::size_t i = 0; i < x.width; ++i)
                if (occurs[i] != 0) meet(i);
        } else {
            turned_x.turn(x, how.places);
            for (const std::uint32_t feature : turned_x.features) meet(feature);
        }
    }

    void meet(std::size_t feature) {
        if (how.met[feature] != 0) return;
        const layer& first = net.layers[0];
        random_bits random(random_bits(how.seed - 1 - feature).next());
        for (std::size_t j = 0; j < first.outputs; ++j) {
            const auto between_0_and_1 = static_cast<float>(random.next() >> 40) * 0x1p-24F;
            how.weights[0].w[feature * first.stride() + j] = (2 * between_0_and_1 - 1) * how.bound;
        }
    }

    // Computes the activations and their slopes, with dropout; the scores are written to the last d.
    void go_forward() {
        random_bits random(random_bits(how.seed + how.steps).next());
        for (std::size_t l = 0; l <= last; ++l) {
            std::vector<float>& z = l < last ? a[l] : d[last];
            z.resize(x.count * net.layers[l].stride());
            if (l == 0)
                enter(x, net.layers[0], z.data(), panel);
            else
                go_on(a[l - 1], x.count, net.layers[l], z.data(), panel);
            if (l == last) return;
            slopes[l].resize(z.size());
            with_bend(net.by, [&]<class Bend>(Bend) {
                float *const values = z.data(), *const slope = slopes[l].data();
                for (std::size_t i = 0; i < z.size(); ++i) {
                    values[i] = Bend::value(values[i]);
                    slope[i] = Bend::slope(values[i]);
                }
            });
            if (how.dropout > 0) drop(z, slopes[l], random);
        }
    }

    // The remaining units are scaled up, so that the mean of the next layer's sums does not change.
    void drop(std::vector<float>& values, std::vector<float>& slope, random_bits& random) const {
        const auto below = static_cast<std::uint64_t>(double{how.dropout} * 0x1p32);
        const float larger = 1 / (1 - how.dropout);
        for (std::size_t i = 0; i < values.size(); i += 2) {  // the padded size is even
            const std::uint64_t bits = random.next();
            const float first = (bits >> 32) < below ? 0 : larger, second = (bits & 0xffffffff) < below ? 0 : larger;
            values[i] *= first;
            values[i + 1] *= second;
            slope[i] *= first;
            slope[i + 1] *= second;
        }
    }

    // Replaces the scores of a row by the derivatives of its loss, times its share of the batch.
    void judge(float* z, std::size_t right, double h, double share, tally& told) const {
        const std::size_t columns = net.columns();
        const auto part = static_cast<float>(share);
        if (columns == 1) {
            const float margin = right == 1 ? z[0] : -z[0];
            told.loss +=
                h * (logarithm_of_one_and(exponential(-std::abs(double{margin}))) + std::max(-double{margin}, 0.0));
            told.mistakes += h > 0 && (z[0] > 0) != (right == 1);
            z[0] = part * (sigmoid(z[0]) - static_cast<float>(right));
            return;
        }
        const std::size_t winner = static_cast<std::size_t>(std::max_element(z, z + columns) - z);
        const float highest = z[winner], margin = z[right] - highest;
        float sum = 0;
        for (std::size_t k = 0; k < columns; ++k) sum += z[k] = power_of_e(z[k] - highest);
        told.loss += h * (logarithm_of_any(double{sum}) - double{margin});
        told.mistakes += h > 0 && winner != right;
        for (std::size_t k = 0; k < columns; ++k) z[k] = part * (z[k] / sum - (k == right ? 1.0F : 0.0F));
    }

    // d_(l-1) = (d_l w_l^T) slope
    void pass_back(std::size_t l) {
        const layer& from = net.layers[l];
        const std::size_t stride = padded(from.inputs);
        turned.assign(from.outputs * stride, 0);
        for (std::size_t i = 0; i < from.inputs; ++i)
            for (std::size_t j = 0; j < from.outputs; ++j) turned[j * stride + i] = from.w[i * from.stride() + j];
        d[l - 1].assign(x.count * stride, 0);
        multiply({d[l].data(), from.stride(), 1}, x.count, from.outputs, turned.data(), d[l - 1].data(), stride, panel);
        for (std::size_t i = 0; i < d[l - 1].size(); ++i) d[l - 1][i] *= slopes[l - 1][i];
    }

    float rate(std::uint64_t steps) const { return how.rates[std::min<std::uint64_t>(steps, how.rates.size() - 1)]; }

    void step_bias(std::size_t l) {
        const std::size_t stride = net.layers[l].stride();
        g.assign(stride, 0);
        for (std::size_t row = 0; row < x.count; ++row)
            for (std::size_t j = 0; j < stride; ++j) g[j] += d[l][row * stride + j];
        step(how.how, stride, g.data(), how.weights[l].bias, how.means[l].bias, how.squares[l].bias, rate(how.steps),
             0);
    }

    void step_layer(std::size_t l) {
        const layer& to = net.layers[l];
        const std::size_t stride = to.stride();
        g.assign(to.inputs * stride, 0);
        multiply({a[l - 1].data(), 1, padded(to.inputs)}, to.inputs, x.count, d[l].data(), g.data(), stride, panel);
        step(how.how, g.size(), g.data(), how.weights[l].w, how.means[l].w, how.squares[l].w, rate(how.steps),
             how.strength);
        step_bias(l);
    }

    void step_feature(std::size_t feature, const float* gradient) {
        const std::size_t stride = net.layers[0].stride();
        const auto row = [&](float* table) { return table == nullptr ? nullptr : table + feature * stride; };
        step(how.how, stride, gradient, row(how.weights[0].w), row(how.means[0].w), row(how.squares[0].w),
             rate(how.met[feature]), how.strength);
        how.met[feature] += how.met[feature] < std::numeric_limits<std::uint32_t>::max();
    }

    void step_features() {
        if (x.dense)
            step_dense_features();
        else
            step_sparse_features();
        step_bias(0);
    }

    void step_dense_features() {
        const std::size_t stride = net.layers[0].stride();
        for (std::size_t first = 0; first < x.width; first += features_at_once) {
            const std::size_t count = std::min(features_at_once, x.width - first);
            g.assign(count * stride, 0);
            multiply({x.matrix.data() + first, 1, x.width}, count, x.count, d[0].data(), g.data(), stride, panel);
            for (std::size_t i = 0; i < count; ++i)
                if (occurs[first + i] != 0) step_feature(first + i, g.data() + i * stride);
        }
    }

    void step_sparse_features() {
        const std::size_t stride = net.layers[0].stride();
        for (std::size_t i = 0; i < turned_x.features.size(); ++i) {
            if (i + features_ahead < turned_x.features.size()) fetch(turned_x.features[i + features_ahead]);
            g.assign(stride, 0);
            add_rows(turned_x.rows_of(i), turned_x.values_of(i), d[0].data(), stride, g.data());
            step_feature(turned_x.features[i], g.data());
        }
    }

    void fetch(std::size_t feature) const {
        const std::size_t stride = net.layers[0].stride();
        for (const float* table : {how.weights[0].w, how.means[0].w, how.squares[0].w})
            if (table != nullptr) prefetch_lines(table + feature * stride, stride);
    }

    const network& net;
    teaching& how;
    const std::size_t last;  // the number of the last layer
    std::vector<example> picked;
    batch x;
    by_feature turned_x;
    std::vector<std::vector<float>> a, slopes, d;  // for each layer, rows x stride
    std::vector<float> g, turned, panel;
    std::vector<std::uint8_t> occurs;
};

template <class Rows>
tally teach(const network& net, teaching& how, const Rows& rows, const visits& which,
            std::span<const std::int64_t> ends) {
    if (rows.width() > net.features()) throw std::invalid_argument("rows are wider than the weights");
    check(which, rows.size(), net.columns() == 1 ? 2 : net.columns());
    const std::vector<std::int64_t> batches(ends.begin(), ends.end());
    if (!std::ranges::is_sorted(batches) ||
        (!batches.empty() &&
         (batches.front() < 0 || static_cast<std::size_t>(batches.back()) > which.count(rows.size()))))
        throw std::invalid_argument("a batch ends outside the visits");
    const without_subnormals quick;
    tally told;
    teacher one(net, how);
    std::size_t start = 0;
    for (const std::int64_t end : batches) {
        const std::size_t count = static_cast<std::size_t>(end) - start;
        one.teach(rows, which, start, count, told);
        start += count;
    }
    return told;
}

}  // namespace

const network_loops& loops_of_networks() {
    static constexpr network_loops all = {teach<sparse_rows<float>>,  teach<dense_rows<float>>,
                                          score<sparse_rows<float>>,  score<dense_rows<float>>,
                                          score<sparse_rows<double>>, score<dense_rows<double>>};
    return all;
}

}  // namespace markone::MARKONE_LEVEL
