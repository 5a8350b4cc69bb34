// Package law has the rules of law that decide what may be published where and since when. It makes no calls: callers
// fill in Facts, and Check returns what the rules in force find.
package law

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/record/profile"
)

// Rule is a rule of law that content must keep.
type Rule struct {
	// ID is a name that never changes, and Version counts the changes of what the rule checks.
	ID      string
	Version int
	// Jurisdiction is where it is in force: EU, or a country (ISO 3166-1).
	Jurisdiction string
	// From is the beginning of its first day in the capital of the jurisdiction. Until is the beginning of the day
	// after its last one, or zero if no end is known.
	From, Until time.Time
	// Reads names the facts on which it depends, and Asks says what it requires.
	Reads, Requirement string
	// Source is the text of law, and URL its address.
	Source, URL string
	// Mend says how content gets within the rule.
	Mend string
	// applies reports whether the rule is about the facts, and broken says what violates it, and in which member of the
	// request. An empty message is no violation.
	applies func(Facts) bool
	check   func(Facts) (param, message string)
}

// Facts are what the rules read of one publication, or of content that is not assigned to a platform yet.
type Facts struct {
	// Region is the country in which it is published (ISO 3166-1). No rule is in force without one.
	Region string
	// At is the time at which it is published.
	At time.Time
	// Platform is empty if it is not known yet. Then the rules about platforms do not apply.
	Platform string
	// Param is the member of the request that names the platform, for errors.
	Param string
	// Advertising reports whether the content advertises something, and Marked how it is marked, if it is.
	Advertising bool
	Marked      *Marking
	// Reduction is the reduction of a price that it announces, or nil.
	Reduction *Reduction
	// Generated reports whether models made the texts, and Reviewed whether a person approved them. Informs reports
	// whether they inform the public on matters of public interest, and Disclosed whether they say how they were made.
	Generated, Reviewed, Informs, Disclosed bool
	// DeepFake reports whether the media falsely appear to show what exists, and Labelled whether they say so.
	DeepFake, Labelled bool
}

// Marking is the marking of advertising, as a country requires it.
type Marking struct {
	Advertiser, TaxID, ERID string
}

// Reduction is a reduction of a price that content announces.
type Reduction struct {
	// Now is the reduced price, and Prior the lawful prior price.
	Now, Prior money.Price
	// Percent is the announced reduction in percent, 0 if none is announced, and Struck the announced prior price, or
	// zero.
	Percent int64
	Struck  money.Price
	// Param is the member of the request that has the percentage, and StruckParam that with the prior price. Of is the
	// name of the product.
	Param, StruckParam, Of string
}

// Violation is what is wrong with content by a rule.
type Violation struct {
	*Rule
	// Param is the JSON pointer of the member at fault, and Message says what is wrong with it.
	Param, Message string
}

// Result is the result of a rule that applied.
type Result struct {
	*Rule
	Violation *Violation // nil if the rule was kept by it
}

// day returns the beginning of a day at the given hours ahead of UTC.
func day(year int, month time.Month, date, ahead int) time.Time {
	return time.Date(year, month, date, 0, 0, 0, 0, time.FixedZone("", ahead*3600))
}

// Since returns the first day of the rule as a date.
func (r *Rule) Since() string { return r.From.Format(time.DateOnly) }

// InForce reports whether the rule is in force in a country at a time.
func (r *Rule) InForce(region string, at time.Time) bool {
	in := r.Jurisdiction == region || r.Jurisdiction == EU && InEU(region)
	return in && !at.Before(r.From) && (r.Until.IsZero() || at.Before(r.Until))
}

// Checked returns the results of all rules that are in force and about the facts, in the order of the table.
func Checked(f Facts) (all []Result) {
	for i := range Rules {
		r := &Rules[i]
		if !r.InForce(f.Region, f.At) || !r.applies(f) {
			continue
		}
		one := Result{Rule: r}
		if param, message := r.check(f); message != "" {
			one.Violation = &Violation{r, param, message}
		}
		all = append(all, one)
	}
	return all
}

// Check returns the violations of all rules that are in force.
func Check(f Facts) (all []Violation) {
	for _, r := range Checked(f) {
		if r.Violation != nil {
			all = append(all, *r.Violation)
		}
	}
	return all
}

// Error returns the violation as the error of a request.
func (v Violation) Error() *errs.Error {
	e := errs.Invalid(v.Param, "%s (%s). %s", strings.TrimSuffix(v.Message, "."), v.Source, v.Mend)
	e.Code = errs.RuleViolated
	return e.With(errs.RuleContext{Rule: v.ID, Jurisdiction: v.Jurisdiction, Since: v.Since(), Source: v.Source,
		Mend: v.Mend})
}

// Refused returns one error for all violations, or nil if there is none. Its context is that of the first.
func Refused(all []Violation) error {
	var found []error
	for _, v := range all {
		found = append(found, v.Error())
	}
	return errs.All(found...)
}

// The ids of the rules, which never change.
const (
	PriorPrice       = "eu_prior_price"
	DeepFakeLabel    = "eu_deep_fake_label"
	PublicDisclosure = "eu_public_interest_disclosure"
	AdMarked         = "ru_ad_marking"
	AdPlatforms      = "ru_ad_platforms"
)

// bannedInRussia are the platforms of resources to which access is restricted in Russia.
var bannedInRussia = []string{"facebook", "instagram", "threads", "x"}

// Rules are all rules. A rule stays in the table after its end.
var Rules = []Rule{
	{
		ID: PriorPrice, Version: 1, Jurisdiction: EU, From: day(2022, time.May, 28, 2),
		Reads: "the discount, the prior price and the price history of a product",
		Requirement: "An announced reduction names the lowest price of the 30 days before it began, and is computed " +
			"from that price.",
		Source: "Directive 98/6/EC, Article 6a; CJEU C-330/23",
		URL:    "https://eur-lex.europa.eu/eli/dir/1998/6/2022-05-28",
		Mend: "Send a discount of the kind amount, from which the texts compute the real percentage, or a lower " +
			"price, or prior_price_exception with its reason.",
		applies: func(f Facts) bool { return f.Reduction != nil },
		check:   func(f Facts) (string, string) { return f.Reduction.broken() },
	},
	{
		ID: DeepFakeLabel, Version: 1, Jurisdiction: EU, From: day(2026, time.August, 2, 2),
		Reads:       "deep_fake, and whether the finished media have the label",
		Requirement: "Media that are a deep fake say visibly that they were generated or manipulated.",
		Source:      "Regulation (EU) 2024/1689, Article 50(4), first subparagraph",
		URL:         "https://eur-lex.europa.eu/eli/reg/2024/1689/oj",
		Mend: "Send fit pad or crop with media of your own, so that the label is drawn on them, or labelled: true if " +
			"they have a visible label already. Regenerate content that was generated before its factory had the " +
			"region.",
		applies: func(f Facts) bool { return f.DeepFake },
		check: func(f Facts) (string, string) {
			if f.Labelled {
				return "", ""
			}
			return "/deep_fake", "needs a visible label on the media"
		},
	},
	{
		ID: PublicDisclosure, Version: 1, Jurisdiction: EU, From: day(2026, time.August, 2, 2),
		Reads: "the type of the factory, the approval, and the text",
		Requirement: "Generated texts on matters of public interest say that they were generated, unless a person " +
			"has reviewed them.",
		Source:  "Regulation (EU) 2024/1689, Article 50(4), second subparagraph",
		URL:     "https://eur-lex.europa.eu/eli/reg/2024/1689/oj",
		Mend:    "Have a person approve the item, or leave the disclosure in its caption.",
		applies: func(f Facts) bool { return f.Informs && f.Generated && !f.Reviewed },
		check: func(f Facts) (string, string) {
			if f.Disclosed {
				return "", ""
			}
			return "/caption", "lacks the disclosure that it was generated"
		},
	},
	{
		ID: AdPlatforms, Version: 1, Jurisdiction: "RU", From: day(2025, time.September, 1, 3),
		Reads:       "ad_marking, promotion_id, paid partnerships, and the platform",
		Requirement: "Nobody advertises on resources to which access is restricted in Russia.",
		Source:      "Federal Law 38-FZ, Article 5(10.7), as amended by 72-FZ of 7 April 2025",
		URL:         "http://publication.pravo.gov.ru/document/0001202504070028",
		Mend: "Publish it to another platform, or publish content there that is no advertising: without a promotion, " +
			"ad_marking and a paid partnership.",
		applies: func(f Facts) bool { return f.Advertising && f.Platform != "" },
		check: func(f Facts) (string, string) {
			if !slices.Contains(bannedInRussia, f.Platform) {
				return "", ""
			}
			return f.Param, fmt.Sprintf("has an account of %s, where advertising is forbidden", f.Platform)
		},
	},
	{
		ID: AdMarked, Version: 1, Jurisdiction: "RU", From: day(2022, time.September, 1, 3),
		Reads: "ad_marking, promotion_id, paid partnerships, and the platform",
		Requirement: "Advertising on the internet says so, names the advertiser, and has the identifier of its " +
			"register.",
		Source: "Federal Law 38-FZ, Article 18.1, as amended by 347-FZ of 2 July 2021",
		URL:    "http://publication.pravo.gov.ru/Document/View/0001202107020001",
		Mend: "Set ad_marking with advertiser, tax_id and the erid that an operator of advertising data has " +
			"assigned, on the item, its factory or its profile.",
		applies: func(f Facts) bool { return f.Advertising && f.Platform != "" },
		check: func(f Facts) (string, string) {
			switch {
			case f.Marked == nil:
				return "/ad_marking", "is required, as the content is advertising"
			case f.Marked.ERID == "":
				return "/ad_marking/erid", "is required to publish advertising"
			}
			return "", ""
		},
	},
}

// RuleOf returns the rule of an id, or nil if there is none.
func RuleOf(id string) *Rule {
	if i := slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == id }); i >= 0 {
		return &Rules[i]
	}
	return nil
}

// Window is the time before a reduction whose lowest price is the prior price.
const Window = 30 * 24 * time.Hour

// Step is a price that is in force from a time until the next step.
type Step struct {
	At    time.Time
	Price money.Price
}

// InForce returns the price that is in force just before a time. It is false if none is known.
func InForce(steps []Step, before time.Time) (p money.Price, ok bool) {
	for _, s := range steps {
		if s.At.Before(before) {
			p, ok = s.Price, true
		}
	}
	return p, ok
}

// Prior returns the prior price of a reduction that began at a time: the lowest price that was in force in the 30 days
// before, in the currency of the last one. The price at the beginning of these days counts. The steps are ordered by
// time. It is false if no price is known before the reduction.
func Prior(steps []Step, began time.Time) (lowest money.Price, ok bool) {
	last, ok := InForce(steps, began)
	if !ok {
		return lowest, false
	}
	from := began.Add(-Window)
	lowest = last
	for i, s := range steps {
		// A price that ended before the window, or at once, does not count.
		ended := i+1 < len(steps) && (!steps[i+1].At.After(from) || !steps[i+1].At.After(s.At))
		if s.At.Before(began) && !ended && s.Price.Currency == last.Currency && s.Price.Amount < lowest.Amount {
			lowest = s.Price
		}
	}
	return lowest, true
}

// Percent returns the whole percentage by which a price is below the prior price, which is never above the real one but
// for the rounding of a price to its smallest unit. It is 0 if the price is not below.
func Percent(prior, now money.Price) int64 {
	if prior.Currency != now.Currency || prior.Amount <= now.Amount || prior.Amount == 0 {
		return 0
	}
	n := (prior.Amount - now.Amount) * 100 / prior.Amount
	if n < 100 && now.Amount <= Reduced(prior, n+1) {
		n++
	}
	return n
}

// Reduced returns the amount that is a percentage below a price. Halves of the smallest unit are rounded up.
func Reduced(p money.Price, percent int64) int64 { return (p.Amount*(100-percent) + 50) / 100 }

// broken says what the reduction announces that is above the real one.
func (r *Reduction) broken() (param, message string) {
	of := ""
	if r.Of != "" {
		of = " of " + r.Of
	}
	switch {
	case r.Struck.Amount > 0 && (r.Struck.Currency != r.Prior.Currency || r.Struck.Amount > r.Prior.Amount):
		return r.StruckParam, fmt.Sprintf("is %s, and the lowest price%s in the 30 days before the promotion is %s",
			r.Struck, of, r.Prior)
	case r.Now.Amount >= r.Prior.Amount && r.Prior.Amount > 0:
		return r.Param, fmt.Sprintf("makes a price%s of %s, which is no reduction: the lowest price in the 30 days "+
			"before the promotion is %s", of, r.Now, r.Prior)
	case r.Percent > 0 && r.Now.Amount > Reduced(r.Prior, r.Percent):
		return r.Param, fmt.Sprintf("is %d percent, and the real reduction%s is %d percent: the lowest price in the "+
			"30 days before the promotion is %s", r.Percent, of, Percent(r.Prior, r.Now), r.Prior)
	}
	return "", ""
}

// EU is the jurisdiction of the rules of the European Union.
const EU = "EU"

// members are the countries of the European Union.
const members = " AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK "

// countries are the codes of ISO 3166-1.
const countries = members + "AD AE AF AG AI AL AM AO AQ AR AS AU AW AX AZ BA BB BD BF BH BI BJ BL BM BN BO BQ BR BS " +
	"BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX DJ DM DO DZ EC EG EH ER ET FJ FK FM FO GA GB " +
	"GD GE GF GG GH GI GL GM GN GP GQ GS GT GU GW GY HK HM HN HT ID IL IM IN IO IQ IR IS JE JM JO JP KE KG KH KI KM " +
	"KN KP KR KW KY KZ LA LB LC LI LK LR LS LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MU MV MW MX MY MZ NA " +
	"NC NE NF NG NI NO NP NR NU NZ OM PA PE PF PG PH PK PM PN PR PS PW PY QA RE RS RU RW SA SB SC SD SG SH SJ SL SM " +
	"SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN " +
	"VU WF WS YE YT ZA ZM ZW "

// InEU reports whether a country is a member of the European Union.
func InEU(country string) bool { return listed(members, country) }

// CheckCountry refuses a text that is not the code of a country (ISO 3166-1). The param names its member.
func CheckCountry(param, code string) error {
	return errs.InvalidIf(!listed(countries, code), param, "is not the code of a country (ISO 3166-1); write it as DE "+
		"or GB")
}

func listed(all, code string) bool { return len(code) == 2 && strings.Contains(all, " "+code+" ") }

// CheckSettings refuses a region that is no country, and a marking of advertising that is not valid.
func CheckSettings(l profile.Legal) error {
	var found []error
	if l.Region != nil {
		found = append(found, CheckCountry("/region", *l.Region))
	}
	return errs.All(append(found, CheckMarking(l.AdMarking))...)
}

// CheckMarking refuses a marking of advertising that is not valid.
func CheckMarking(m *profile.AdMarking) error {
	if m == nil {
		return nil
	}
	var found []error
	if m.Advertiser == "" {
		found = append(found, errs.Invalid("/ad_marking/advertiser", "is required: who advertises"))
	}
	if !ValidTaxID(m.TaxID) {
		found = append(found, errs.Invalid("/ad_marking/tax_id", "is not a taxpayer number (INN) of 10 or 12 digits "+
			"with a valid checksum; write it as 7707083893"))
	}
	if strings.ContainsFunc(m.ERID, func(r rune) bool { return !strings.ContainsRune(eridCharacters, r) }) {
		found = append(found, errs.Invalid("/ad_marking/erid", "has characters besides letters and digits. Send it "+
			"as the operator of advertising data has assigned it"))
	}
	return errs.All(found...)
}

// eridCharacters are the characters of an identifier of advertising.
const eridCharacters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// MarkingOf returns the marking for the rules, or nil if there is none.
func MarkingOf(m *profile.AdMarking) *Marking {
	if m == nil {
		return nil
	}
	return &Marking{m.Advertiser, m.TaxID, m.ERID}
}

// AdLabel is the word on advertising in Russia.
const AdLabel = "Реклама"

// Line returns the line of a text that marks advertising.
func (m *Marking) Line() string {
	line := AdLabel + ". " + m.Advertiser + ", ИНН " + m.TaxID + "."
	if m.ERID != "" {
		line += " erid: " + m.ERID
	}
	return line
}

// ValidTaxID reports whether a text is a taxpayer number of Russia (INN): 10 digits of a company or 12 of a person, of
// which the last, or the last two, are a checksum.
func ValidTaxID(number string) bool {
	for _, r := range number {
		if r < '0' || r > '9' {
			return false
		}
	}
	switch len(number) {
	case 10:
		return control(number[:9]) == number[9]
	case 12:
		return control(number[:10]) == number[10] && control(number[:11]) == number[11]
	}
	return false
}

// control returns the digit that follows the digits of a taxpayer number.
func control(digits string) byte {
	weights := []int{3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8}
	sum := 0
	for i, w := range weights[len(weights)-len(digits):] {
		sum += w * int(digits[i]-'0')
	}
	return '0' + byte(sum%11%10)
}

// labels are the words on media that are generated or manipulated, by language, and disclosures those about texts.
var (
	labels = map[string]string{
		"bg": "Създадено с ИИ", "cs": "Vytvořeno AI", "da": "AI-genereret", "de": "KI-generiert",
		"el": "Δημιουργήθηκε με ΤΝ", "en": "AI-generated", "es": "Generado con IA", "et": "Loodud tehisaruga",
		"fi": "Tekoälyllä luotu", "fr": "Généré par IA", "ga": "Ginte le hintleacht shaorga",
		"hr": "Generirano umjetnom inteligencijom", "hu": "MI által készített", "it": "Generato con IA",
		"lt": "Sukurta DI", "lv": "Radīts ar MI", "mt": "Iġġenerat bl-IA", "nl": "AI-gegenereerd",
		"pl": "Wygenerowano przez AI", "pt": "Gerado por IA", "ro": "Generat cu IA", "ru": "Создано ИИ",
		"sk": "Vytvorené AI", "sl": "Ustvarjeno z UI", "sv": "AI-genererad",
	}
	disclosures = map[string]string{
		"bg": "Този текст е създаден с изкуствен интелект.", "cs": "Tento text vytvořila umělá inteligence.",
		"da": "Denne tekst er genereret af kunstig intelligens.",
		"de": "Dieser Text wurde mit künstlicher Intelligenz erstellt.",
		"el": "Το κείμενο αυτό δημιουργήθηκε με τεχνητή νοημοσύνη.",
		"en": "This text was generated by artificial intelligence.",
		"es": "Este texto se ha generado con inteligencia artificial.",
		"et": "See tekst on loodud tehisintellektiga.", "fi": "Tämä teksti on luotu tekoälyllä.",
		"fr": "Ce texte a été généré par intelligence artificielle.",
		"ga": "Gineadh an téacs seo le hintleacht shaorga.", "hr": "Ovaj tekst izradila je umjetna inteligencija.",
		"hu": "Ezt a szöveget mesterséges intelligencia készítette.",
		"it": "Questo testo è stato generato con l'intelligenza artificiale.",
		"lt": "Šis tekstas sukurtas dirbtinio intelekto.", "lv": "Šo tekstu radīja mākslīgais intelekts.",
		"mt": "Dan it-test ġie ġġenerat bl-intelliġenza artifiċjali.",
		"nl": "Deze tekst is gegenereerd met kunstmatige intelligentie.",
		"pl": "Ten tekst wygenerowała sztuczna inteligencja.",
		"pt": "Este texto foi gerado por inteligência artificial.",
		"ro": "Acest text a fost generat cu inteligență artificială.",
		"ru": "Этот текст создан искусственным интеллектом.", "sk": "Tento text vytvorila umelá inteligencia.",
		"sl": "To besedilo je ustvarila umetna inteligenca.",
		"sv": "Denna text är genererad av artificiell intelligens.",
	}
)

// Label returns the words that label generated media in a language (BCP 47), or those in English.
func Label(language string) string { return in(labels, language) }

// Disclosure returns the sentence that discloses a generated text in a language (BCP 47), or that in English.
func Disclosure(language string) string { return in(disclosures, language) }

func in(texts map[string]string, language string) string {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	if text, ok := texts[base]; ok {
		return text
	}
	return texts["en"]
}

func init() {
	var ids []string
	for _, r := range Rules {
		ids = append(ids, r.ID)
	}
	format.Define("law-rule", format.Format{Values: ids})
}
