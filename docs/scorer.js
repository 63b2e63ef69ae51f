// How the search of these pages ranks results: Sphinx's scores, with titles and objects before text.
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([docname, title, anchor, descr, score, filename, kind]) =>
    score + (kind === "title" || kind === "object" ? 5 : 0),
};
