// Tables that sort by the column whose heading is pressed: by click, or by Tab and Enter. Without scripts they stay as they are.
"use strict";

const FACTORS = {
  "%": 1, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1,
  k: 1e3, M: 1e6, G: 1e9, T: 1e12,
  B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50,
};

/** The number that a cell begins with, in the basic unit; NaN: it is no number. */
function numberOf(text) {
  const parts = /^[<>=\s]*(-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?)\s*(\S*)/.exec(text.trim());
  if (parts === null) return NaN;
  return Number(parts[1].replaceAll(",", "")) * (FACTORS[parts[2]] ?? 1);
}

/** Negative: a comes before b. Numbers ascend before texts. */
function order(a, b) {
  const [x, y] = [numberOf(a), numberOf(b)];
  if (Number.isNaN(x) && Number.isNaN(y)) return a.localeCompare(b);
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  return x - y;
}

function sort(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const ascends = heads[column].getAttribute("aria-sort") === "descending";
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", ascends ? "ascending" : "descending");
  const text = (row) => row.cells[column].textContent;
  const rows = [...table.tBodies[0].rows].sort((a, b) => (ascends ? 1 : -1) * order(text(a), text(b)));
  table.tBodies[0].append(...rows);
}

function makeSortable(table) {
  if (table.tHead === null || table.tBodies[0].rows.length < 2) return;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (head.textContent === "") return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(table, column));
    head.replaceChildren(button);
  });
}

if (typeof document !== "undefined") document.querySelectorAll("table").forEach(makeSortable);
