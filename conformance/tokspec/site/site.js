"use strict";
// The front page: rows are sorted and filtered; without this script it is a table like any other.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.heat");
  for (const button of document.querySelectorAll(".copy"))
    button.addEventListener("click", () => {
      const field = document.getElementById(button.dataset.of);
      field.select();
      if (navigator.clipboard) navigator.clipboard.writeText(field.value).catch(() => {});
      button.textContent = "copied";
    });
  if (!table) return;
  const rows = [...table.tBodies[0].rows];
  const key = (row, column) => row.cells[column].dataset.sort ?? row.cells[column].textContent;
  const compare = (left, right) =>
    left !== "" && right !== "" && !isNaN(left) && !isNaN(right) ? left - right : String(left).localeCompare(String(right));
  table.querySelectorAll("thead th").forEach((head, column) => {
    head.querySelector("button")?.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === (column ? "ascending" : "descending") ? !column : !!column;
      const down = head.getAttribute("aria-sort") === "descending" ? false : head.getAttribute("aria-sort") === "ascending" ? true : descending;
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((a, b) => compare(key(a, column), key(b, column)) * (down ? -1 : 1));
      table.tBodies[0].append(...rows);
    });
  });
  const fields = [...document.querySelectorAll("[data-filter]")];
  const count = document.getElementById("count");
  const filter = () => {
    let left = 0;
    for (const row of document.querySelectorAll("tr[data-name]")) {
      const fits = fields.every((field) => {
        const value = field.value.trim().toLowerCase();
        const own = (row.dataset[field.dataset.filter] ?? "").toLowerCase();
        return !value || (field.tagName === "SELECT" ? own === value : own.includes(value));
      });
      row.hidden = !fits;
      left += fits && rows.includes(row);
    }
    if (count) count.textContent = `${left} of ${rows.length} implementations`;
  };
  const columns = document.getElementById("columns");
  const show = () => {
    const wanted = columns ? columns.value : "";
    for (const each of table.querySelectorAll("[data-kind]")) each.hidden = each.dataset.kind !== (wanted || "chapter");
  };
  for (const field of fields) field.addEventListener("input", filter);
  columns?.addEventListener("input", show);
  filter();
  show();
});
