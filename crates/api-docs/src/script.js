(() => {
  "use strict";
  const LANGUAGE_KEY = "guerdon-docs-language";
  const RESULTS_MAX = 12;

  // The language of the examples. Storage can be switched off, in which case nothing is remembered.
  const switches = [...document.querySelectorAll("input[name=language]")];
  try {
    const remembered = localStorage.getItem(LANGUAGE_KEY);
    for (const choice of switches) if (choice.value === remembered) choice.checked = true;
  } catch {}
  for (const choice of switches) {
    choice.addEventListener("change", () => {
      try { localStorage.setItem(LANGUAGE_KEY, choice.value); } catch {}
    });
  }

  // The contents show the current page.
  const contents = document.querySelector(".contents .wide");
  const current = contents.querySelector("[aria-current]");
  if (current) contents.scrollTop = current.offsetTop - contents.clientHeight / 3;

  // Copy buttons.
  for (const block of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const text = block.querySelector("code").textContent.replace(/\n$/, "");
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(block.querySelector("code"));
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.prepend(button);
  }

  // Search over all pages. The index is fetched when the field gets the focus for the first time.
  const field = document.getElementById("search");
  const results = document.getElementById("results");
  field.parentElement.hidden = false;
  let index;
  const loadIndex = () => (index ??= fetch("/docs/search.json").then((response) => response.json()));

  // A pattern that finds a word, its synonyms and their plurals at the beginning of words: "use" finds "users", but not
  // "because".
  const escape = (word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const stem = (word) => (word.length > 3 ? word.replace(/(ies|(?<!s)s)$/, "") : word);
  const pattern = (words) => `(?<![\\p{L}\\p{N}])(?:${words.map((word) => escape(stem(word))).join("|")})`;
  const toTerm = (word, synonyms) => {
    const all = [word, ...(synonyms[word] ?? synonyms[stem(word)] ?? [])];
    return { exact: new RegExp(pattern([word]), "iu"), any: new RegExp(pattern(all), "iu") };
  };

  // The address of an operation ends with its name, "#getUser", and its text begins with its path.
  const rank = ([url, page, section, text], terms) => {
    let score = 0;
    for (const { exact, any } of terms) {
      const path = url.startsWith("/docs/reference/") ? text.slice(0, 60) : "";
      const places = [[section, 10], [url, 6], [path, 6], [page, 4], [text, 1]].filter(([place]) => any.test(place));
      if (places.length === 0) return 0;
      for (const [place, weight] of places) score += exact.test(place) ? weight : weight / 2;
    }
    // A part of an operation, "Create a user: Parameters", comes after the operation.
    return section.includes(": ") ? score / 2 : score;
  };
  // The words around the first match, whole.
  const excerpt = (text, terms) => {
    const found = terms.map(({ any }) => text.search(any)).filter((at) => at >= 0);
    const match = found.length === 0 ? 0 : Math.min(...found);
    const begin = match < 40 ? 0 : text.indexOf(" ", match - 40) + 1;
    const space = text.lastIndexOf(" ", begin + 120);
    const end = text.length <= begin + 120 ? text.length : space > begin ? space : begin + 120;
    return (begin > 0 ? "… " : "") + text.slice(begin, end) + (end < text.length ? " …" : "");
  };
  const element = (name, text, className = "") => Object.assign(document.createElement(name), { textContent: text, className });
  // The element with each match marked.
  const marked = (name, text, terms, className = "") => {
    const parts = text.split(new RegExp(`(${terms.map(({ any }) => any.source).join("|")})`, "giu"));
    const whole = element(name, "", className);
    whole.append(...parts.map((part, position) => (position % 2 === 1 ? element("mark", part) : part)));
    return whole;
  };
  const show = async () => {
    const query = field.value.trim().toLowerCase();
    results.hidden = query === "";
    if (query === "") return results.replaceChildren();
    let sections, synonyms;
    try { ({ sections, synonyms } = await loadIndex()); } catch {
      index = undefined;
      return results.replaceChildren(element("p", "The search index could not be loaded."));
    }
    if (field.value.trim().toLowerCase() !== query) return;
    const terms = query.split(/\s+/).map((word) => toTerm(word, synonyms));
    const ranked = sections.map((section) => [rank(section, terms), section]).filter(([score]) => score > 0);
    ranked.sort(([a], [b]) => b - a);
    const list = document.createElement("ul");
    for (const [, [url, page, section, text]] of ranked.slice(0, RESULTS_MAX)) {
      const link = element("a", "");
      link.href = url;
      link.append(marked("strong", section || page, terms), " ", element("span", page, "page"), marked("span", excerpt(text, terms), terms, "excerpt"));
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    const total = ranked.length === 0 ? "No results" : `${ranked.length} ${ranked.length === 1 ? "result" : "results"}`;
    const count = ranked.length > RESULTS_MAX ? `The best ${RESULTS_MAX} of ${total}` : total;
    results.replaceChildren(element("p", count), list);
  };
  const close = () => { results.hidden = true; };
  // `?q=wallet` shows the results of a search, so that they can be linked to.
  const linked = new URLSearchParams(location.search).get("q");
  if (linked) {
    field.value = linked;
    show();
  }
  field.addEventListener("focus", () => { loadIndex().catch(() => { index = undefined; }); if (field.value) show(); });
  field.addEventListener("input", show);
  field.parentElement.addEventListener("keydown", (event) => {
    const links = [...results.querySelectorAll("a")];
    const position = links.indexOf(document.activeElement);
    if (event.key === "Escape") {
      field.focus();
      close();
    }
    if (event.key === "Enter" && document.activeElement === field && links.length > 0) links[0].click();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      (links[position + (event.key === "ArrowDown" ? 1 : -1)] ?? field).focus();
    }
  });
  document.addEventListener("click", (event) => { if (!field.parentElement.contains(event.target)) close(); });
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName);
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
    }
  });
  results.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
})();
