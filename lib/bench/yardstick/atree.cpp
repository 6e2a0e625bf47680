// The matching of the A-Tree paper (its Algorithm 6 with zero suppression and access children), one event at a time.
//
// In: a folder of files of 32-bit integers (lib/bench/yardstick/dump.py writes them), how many events, how many runs.
// Out: a line of JSON for each run: events, seconds, matches, visits; then, from a run of its own that is not timed,
// `work`, the children that are true summed over edges and events, and `sets`, the edges whose child is ever true.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using Ints = std::vector<int32_t>;

static Ints read(const std::string &folder, const char *name) {
  const std::string path = folder + "/" + name;
  FILE *file = fopen(path.c_str(), "rb");
  if (!file) { fprintf(stderr, "cannot open %s\n", path.c_str()); exit(1); }
  fseek(file, 0, SEEK_END);
  Ints values(ftell(file) / sizeof(int32_t));
  rewind(file);
  if (fread(values.data(), sizeof(int32_t), values.size(), file) != values.size()) exit(1);
  fclose(file);
  return values;
}

// Predicates and the values that satisfy them: a table of all (attribute, value) where that is small enough, else the
// predicates of the attribute are tested one by one.
struct Predicates {
  Ints attribute, low, high, negated, set_start, set_member;
  int32_t values;
  bool table;
  std::vector<int64_t> start;  // by attribute * values + value, or by attribute
  Ints list;

  bool holds(int32_t p, int32_t value) const {
    bool inside = false;
    if (set_start[p] < set_start[p + 1]) {
      for (int32_t i = set_start[p]; i < set_start[p + 1] && !inside; i++) inside = set_member[i] == value;
    } else {
      inside = low[p] <= value && value <= high[p];
    }
    return inside != bool(negated[p]);
  }

  void prepare(int32_t attributes, int32_t value_count, int64_t limit) {
    values = value_count;
    const int64_t count = attribute.size();
    table = count * values / 2 < limit && int64_t(attributes) * values < limit;
    const int64_t slots = table ? int64_t(attributes) * values : attributes;
    start.assign(slots + 1, 0);
    auto each = [&](auto &&see) {
      for (int64_t p = 0; p < count; p++) {
        if (!table) { see(p, attribute[p]); continue; }
        for (int32_t v = 0; v < values; v++)
          if (holds(p, v)) see(p, int64_t(attribute[p]) * values + v);
      }
    };
    each([&](int64_t, int64_t slot) { start[slot + 1]++; });
    for (int64_t i = 0; i < slots; i++) start[i + 1] += start[i];
    list.resize(start[slots]);
    std::vector<int64_t> next(start.begin(), start.end() - 1);
    each([&](int64_t p, int64_t slot) { list[next[slot]++] = p; });
  }
};

// Arrays by node, as narrow as they can be: a match is bound by the cache.
struct Tree {
  Ints first_child, children;   // of node n: children[first_child[n]] to [first_child[n + 1]]; the access child first
  Ints first_parent, parents;   // those that a true node wakes: all or-nodes, and-nodes by their access child
  Ints expressions, used;       // carried by the node; edges that lead to it
  std::vector<uint8_t> is_and;
  std::vector<uint16_t> level;
  Ints per_level;               // how many nodes a level has
};

static Tree grow(const std::string &folder, int32_t predicates) {
  Tree tree;
  const Ints is_and = read(folder, "is_and"), start = read(folder, "start"), level = read(folder, "level");
  tree.expressions = read(folder, "expressions");
  tree.children = read(folder, "child");
  const int32_t total = predicates + is_and.size();
  tree.first_child.assign(predicates, 0);
  tree.first_child.insert(tree.first_child.end(), start.begin(), start.end());
  tree.is_and.assign(predicates, 0);
  tree.is_and.insert(tree.is_and.end(), is_and.begin(), is_and.end());
  tree.level.assign(predicates, 1);
  tree.level.insert(tree.level.end(), level.begin(), level.end());
  tree.per_level.assign(2, 0);
  for (int32_t at : tree.level) {
    if (at >= int32_t(tree.per_level.size())) tree.per_level.resize(at + 1, 0);
    tree.per_level[at]++;
  }
  auto wakes = [&](auto &&see) {
    for (int32_t n = predicates; n < total; n++) {
      const int32_t begin = tree.first_child[n], end = tree.is_and[n] ? begin + 1 : tree.first_child[n + 1];
      for (int32_t i = begin; i < end; i++) see(tree.children[i], n);
    }
  };
  tree.first_parent.assign(total + 1, 0);
  wakes([&](int32_t child, int32_t) { tree.first_parent[child + 1]++; });
  for (int32_t n = 0; n < total; n++) tree.first_parent[n + 1] += tree.first_parent[n];
  tree.parents.resize(tree.first_parent[total]);
  Ints next(tree.first_parent.begin(), tree.first_parent.end() - 1);
  wakes([&](int32_t child, int32_t parent) { tree.parents[next[child]++] = parent; });
  tree.used.assign(total, 0);
  for (int32_t child : tree.children) tree.used[child]++;
  return tree;
}

struct Found { int64_t matches = 0, visits = 0, work = 0, sets = 0; };

template <bool counting>
static Found match(const Tree &tree, const Predicates &predicates, const Ints &start, const Ints &attribute,
                   const Ints &value, int32_t events) {
  Found found;
  const int32_t nodes = tree.level.size(), levels = tree.per_level.size() - 1;
  // The last event for which a node was true, and for which it was queued.
  Ints is_true(nodes, -1), is_queued(nodes, -1), matches;
  std::vector<Ints> queue(levels + 1);
  for (int32_t level = 1; level <= levels; level++) queue[level].resize(tree.per_level[level]);
  std::vector<int32_t *> tail(levels + 1);
  for (int32_t event = 0; event < events; event++) {
    for (int32_t level = 1; level <= levels; level++) tail[level] = queue[level].data();
    matches.clear();
    for (int32_t i = start[event]; i < start[event + 1]; i++) {
      const int64_t slot = predicates.table ? int64_t(attribute[i]) * predicates.values + value[i] : attribute[i];
      for (int64_t k = predicates.start[slot]; k < predicates.start[slot + 1]; k++) {
        const int32_t p = predicates.list[k];
        if (predicates.table || predicates.holds(p, value[i])) *tail[1]++ = p;
      }
    }
    for (int32_t level = 1; level <= levels; level++) {
      // What a node wakes stands on higher levels: this queue is complete.
      const int32_t *const end = tail[level];
      found.visits += end - queue[level].data();
      for (const int32_t *at = queue[level].data(); at < end; at++) {
        const int32_t n = *at;
        if (tree.is_and[n]) {
          int32_t i = tree.first_child[n] + 1;
          const int32_t last = tree.first_child[n + 1];
          while (i < last && is_true[tree.children[i]] == event) i++;
          if (i < last) continue;
        }
        is_true[n] = event;
        if (counting) found.work += tree.used[n];
        for (int32_t k = tree.expressions[n]; k > 0; k--) matches.push_back(n);
        for (int32_t i = tree.first_parent[n]; i < tree.first_parent[n + 1]; i++) {
          const int32_t parent = tree.parents[i];
          if (is_queued[parent] == event) continue;
          is_queued[parent] = event;
          *tail[tree.level[parent]]++ = parent;
        }
      }
    }
    found.matches += matches.size();
  }
  for (int32_t n = 0; counting && n < nodes; n++)
    if (is_true[n] >= 0) found.sets += tree.used[n];
  return found;
}

int main(int count, char **given) {
  if (count != 4) { fprintf(stderr, "usage: atree FOLDER EVENTS RUNS\n"); return 2; }
  const std::string folder = given[1];
  const Ints sizes = read(folder, "sizes");  // attributes, values
  Predicates predicates{read(folder, "attribute"), read(folder, "low"),       read(folder, "high"),
                        read(folder, "negated"),   read(folder, "set_start"), read(folder, "set_member"),
                        0, false, {}, {}};
  predicates.prepare(sizes[0], sizes[1], int64_t(1) << 27);
  const Tree tree = grow(folder, predicates.attribute.size());
  const Ints start = read(folder, "event_start"), attribute = read(folder, "event_attribute");
  const Ints value = read(folder, "event_value");
  const int32_t events = std::min<int64_t>(atoll(given[2]), int64_t(start.size()) - 1);
  for (int run = 0; run < atoi(given[3]); run++) {
    const auto begin = std::chrono::steady_clock::now();
    const Found found = match<false>(tree, predicates, start, attribute, value, events);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    printf("{\"events\": %d, \"seconds\": %.6f, \"matches\": %lld, \"visits\": %lld}\n", events, seconds,
           (long long)found.matches, (long long)found.visits);
    fflush(stdout);
  }
  const Found found = match<true>(tree, predicates, start, attribute, value, events);
  printf("{\"work\": %lld, \"sets\": %lld, \"edges\": %lld}\n", (long long)found.work, (long long)found.sets,
         (long long)tree.children.size());
}
