// Writes second.tsv: the public holidays of 2026 to 2030 by the package date-holidays, for the test of this package.
//
//	npm install date-holidays@3.37.0
//	node generate.cjs > second.tsv
const Holidays = require("date-holidays");
const countries = ("AE AR AT AU BE BG BR CA CH CN CO CZ DE DK EE EG ES FI FR GB GR HR HU ID IE IL IN IS IT JP KR KZ LT " +
  "LU LV MA MX MY NL NO NZ PE PH PL PT RO RS RU SA SE SG SI SK TH TR US VN ZA CL").split(" ");
for (const country of countries) {
  const seen = new Set();
  const last = {}; // the latest day of each name: a holiday of several days is told on the first
  for (let year = 2026; year <= 2030; year++) {
    for (const day of new Holidays(country, { languages: ["en"] }).getHolidays(year, "en")) {
      const at = Date.parse(day.date.slice(0, 10));
      const later = last[day.name] === at - 24 * 3600 * 1000;
      last[day.name] = at;
      const line = [country, day.date.slice(0, 10), day.name].join("\t");
      if (day.type === "public" && !day.substitute && !later && !seen.has(line)) console.log(line);
      seen.add(line);
    }
  }
}
