"use strict";
// Tables are sorted, lists filtered, lines copied. Without this script the pages are whole, and the controls not shown.
document.addEventListener("DOMContentLoaded", () => {
  for (const controls of document.querySelectorAll(".filters")) controls.hidden = false;
  for (const button of document.querySelectorAll(".copy"))
    button.addEventListener("click", () => {
      const field = document.getElementById(button.dataset.of);
      field.select();
      if (navigator.clipboard) navigator.clipboard.writeText(field.value).catch(() => {});
      button.textContent = "copied";
    });

  // A table whose heads are buttons: words sort upwards first, figures downwards; another click turns it round.
  const key = (row, column) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
  const compare = (left, right) =>
    left !== "" && right !== "" && !isNaN(left) && !isNaN(right) ? left - right : String(left).localeCompare(String(right));
  for (const table of document.querySelectorAll("table.heat")) {
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((head, column) =>
      head.querySelector("button")?.addEventListener("click", () => {
        const rows = [...table.tBodies[0].rows];
        const was = head.getAttribute("aria-sort");
        const down = was ? was === "ascending" : rows.every((row) => !isNaN(key(row, column)));
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        table.tBodies[0].append(...rows.sort((a, b) => compare(key(a, column), key(b, column)) * (down ? -1 : 1)));
      }),
    );
  }

  // Words are looked for from their beginnings, in any order; what stands together, such as llama-3, as one phrase. A word
  // with another name, such as unk, fits by that too.
  const plain = (text) => ` ${text.toLowerCase().replace(/[^\p{L}\p{N}+]+/gu, " ").trim()}`;
  const others = JSON.parse(document.querySelector("[data-words]")?.dataset.words ?? "[]");
  const little = new Set("a an and are as at be by do does for from hugging face in is it its my of on or that the this to was when where with".split(" "));
  const wordsOf = (wanted) => {
    const all = wanted.toLowerCase().trim().split(/\s+/).filter((word) => word);
    const telling = all.filter((word) => !little.has(word));
    return telling.length ? telling : all;
  };
  const fits = (text, word) => {
    const one = word.replace(/(?<=\w{3})s$/, ""); // of one thing and of several
    const same = others.find(([name]) => name === word || name === one) ?? [];
    return [word, one, ...same].some((name) => plain(name).trim() && text.includes(plain(name)));
  };
  const has = (text, wanted) => wordsOf(wanted).every((word) => fits(text, word));

  // What has a name is shown if it fits every field: a list names a value that it has, a search a part of one or all of its
  // words, or words of all that it and the head of its group say. A group is shown if something in it is, and opened if
  // it was looked for.
  const squeezed = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "");
  const isNamed = (own, wanted) =>
    squeezed(own).includes(squeezed(wanted)) || plain(own).trim().split(" ").every((word) => `${plain(wanted)} `.includes(` ${word} `));
  const fields = [...document.querySelectorAll("[data-filter]")];
  const groups = [...document.querySelectorAll("[data-group]")];
  const items = [...document.querySelectorAll("[data-name]")].map((element) => {
    const head = element.closest("[data-group]")?.querySelector("h2, h3, summary")?.textContent ?? "";
    const own = `${head} ${element.textContent}`; // the words of a name such as TruncateEncodings can be found too
    return { element, values: { ...element.dataset, text: plain(own) + plain(own.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")) } };
  });
  const count = document.getElementById("count");
  const isCounted = ({ element }) => !element.closest("dl"); // libraries that do not load a model
  const nothing = [...document.querySelectorAll("[data-nothing]")];
  const partly = document.querySelector("[data-partly]");
  const filter = () => {
    const left = new Set();
    // If no row has all words, those that have the rarest are shown, if that is half of what the words weigh.
    const words = wordsOf(fields.find(({ dataset }) => dataset.filter === "text")?.value ?? "");
    const had = items.map(({ values }) => words.map((word) => fits(values.text, word)));
    const weights = words.map((_, index) => Math.log((2 + items.length) / (1 + had.filter((has) => has[index]).length)));
    const sum = (numbers) => numbers.reduce((left, right) => left + right, 0);
    const counted = items.map((item, place) => ({ ...item, score: sum(weights.filter((_, index) => had[place][index])) }));
    let needed = sum(weights);
    const isShown = ({ values, score }) =>
      score >= needed &&
      fields.every(({ value, tagName, dataset }) => {
        if (dataset.filter === "text") return true;
        const [wanted, own] = [value.trim().toLowerCase(), values[dataset.filter]?.toLowerCase()];
        if (!wanted || own === undefined) return true; // what has no such value is of another list
        return tagName === "SELECT" ? own.split("|").includes(wanted) : isNamed(own, wanted);
      });
    if (partly) {
      partly.hidden = !words.length || counted.some(isShown);
      if (!partly.hidden) {
        const half = needed / 2;
        needed = 0;
        needed = Math.max(half, ...counted.filter(isShown).map(({ score }) => score));
        partly.hidden = !counted.some(isShown);
      }
    }
    for (const item of counted) {
      item.element.hidden = !isShown(item);
      if (!item.element.hidden && isCounted(item)) left.add(item.values.name);
    }
    const isWanted = fields.some((field) => field.value);
    for (const group of groups) {
      const shown = group.querySelectorAll("[data-name]:not([hidden])").length;
      group.hidden = !shown;
      const total = group.querySelector("summary .soft");
      if (total) total.textContent = (isWanted ? `${shown} of ` : "") + total.textContent.replace(/^\d+ of /, "");
      for (const each of group.tagName === "DETAILS" ? [group] : group.querySelectorAll("details"))
        if (isWanted) each.open = !group.hidden;
    }
    for (const each of nothing) each.hidden = [...document.querySelectorAll(each.dataset.nothing)].some((element) => !element.hidden);
    if (count) count.textContent = `${left.size} of ${new Set(items.filter(isCounted).map(({ values }) => values.name)).size} ${count.dataset.of}`;
    return left.size;
  };
  // The page of a model begins with the language that was chosen, and another search with the words.
  const passOn = () => {
    const language = document.querySelector("select[data-filter=language]")?.value;
    for (const link of document.querySelectorAll("[data-passes-on] a"))
      link.search = language ? `?${new URLSearchParams({ language })}` : "";
    const text = document.querySelector("[data-filter=text]")?.value;
    for (const link of document.querySelectorAll("a[data-carries]")) link.search = text ? `?${new URLSearchParams({ text })}` : "";
  };
  // The address keeps what was looked for, so that it can be sent to somebody.
  const kept = [...fields, ...document.querySelectorAll("#feature, #columns, #a, #b, #show")];
  const keyOf = (field) => field.dataset.filter ?? field.id;
  const remember = () => {
    const wanted = new URLSearchParams(kept.filter((field) => field.value !== (field.options?.[0].value ?? "")).map((field) => [keyOf(field), field.value]));
    try {
      history.replaceState(null, "", `${location.pathname}${wanted.size ? `?${wanted}` : ""}${location.hash}`);
    } catch {} // a page that was opened from disk may keep its address
    passOn();
  };
  const asked = new URLSearchParams(location.search);
  for (const field of kept) {
    if (asked.has(keyOf(field))) field.value = asked.get(keyOf(field));
    field.addEventListener("input", remember);
  }
  for (const field of fields) field.addEventListener("input", filter);

  // Columns of features whose name, group or synonyms have every word.
  const feature = document.getElementById("feature");
  const narrow = () => {
    document.querySelectorAll("thead [data-feature]").forEach((head) => {
      const hidden = feature.value.trim() !== "" && !has(plain(head.dataset.feature), feature.value);
      for (const row of head.closest("table").rows) row.cells[head.cellIndex].hidden = hidden;
    });
  };
  feature?.addEventListener("input", narrow);
  if (feature) narrow();

  // Two implementations beside each other: of each case there is a letter for every one.
  const [one, another, which] = ["a", "b", "show"].map((id) => document.getElementById(id));
  if (one && another) {
    if (!asked.has("b")) another.selectedIndex = one.selectedIndex ? 0 : Math.min(1, another.length - 1);
    const told = { p: "pass", f: "wrong", u: "not asked" };
    const beside = () => {
      const [left, right] = [one.selectedIndex, another.selectedIndex];
      const names = [one, another].map((field) => field.selectedOptions[0].textContent);
      const counts = { pp: 0, pf: 0, fp: 0, ff: 0 };
      for (const row of document.querySelectorAll("#both tbody tr")) {
        const pair = row.dataset.v[left] + row.dataset.v[right];
        if (pair in counts) counts[pair] += 1;
        row.hidden = !(which.value === "differs" ? ["pf", "fp"] : which.value === "wrong" ? ["ff"] : Object.keys(counts)).includes(pair);
        for (const [place, letter] of [[2, pair[0]], [3, pair[1]]]) {
          const link = document.createElement("a");
          link.href = `${row.querySelector("a").getAttribute("href")}#answers`;
          link.textContent = told[letter];
          row.cells[place].replaceChildren(link);
          row.cells[place].className = letter === "p" ? "all" : "few";
        }
      }
      document.getElementById("a-head").textContent = names[0];
      document.getElementById("b-head").textContent = names[1];
      document.getElementById("sum").textContent =
        `Both are asked ${counts.pp + counts.pf + counts.fp + counts.ff} cases: ${counts.pp} both right, ${counts.pf} only ${names[0]}, ` +
        `${counts.fp} only ${names[1]}, ${counts.ff} both wrong.`;
    };
    for (const field of [one, another, which]) field.addEventListener("input", beside);
    document.querySelector(".without-script").hidden = true;
    beside();
  }

  // A frame that goes on to the right says so.
  for (const frame of document.querySelectorAll(".scroll")) {
    const tell = () => frame.classList.toggle("more", frame.scrollLeft + frame.clientWidth < frame.scrollWidth - 2);
    frame.addEventListener("scroll", tell, { passive: true });
    new ResizeObserver(tell).observe(frame);
  }
  document.getElementById("open")?.addEventListener("click", () => {
    const open = groups.some((group) => !group.open);
    for (const group of groups) group.open = open;
  });

  // An address that ends with a chapter shows what is of that chapter.
  const follow = () => {
    const chapter = document.querySelector("select[data-filter=chapter]");
    const wanted = decodeURIComponent(location.hash.slice(1));
    if (!wanted || ![...(chapter?.options ?? [])].some((option) => option.value === wanted)) return;
    chapter.value = wanted;
    filter();
    chapter.closest(".filters").scrollIntoView();
  };
  addEventListener("hashchange", follow);

  const columns = document.getElementById("columns");
  const show = () => {
    for (const each of document.querySelectorAll("[data-kind]")) each.hidden = each.dataset.kind !== (columns?.value ?? "chapter");
  };
  columns?.addEventListener("input", show);
  filter();
  passOn();
  show();
  addEventListener("load", () => setTimeout(follow)); // after the browser went to the chapter's own row
});
