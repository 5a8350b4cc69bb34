package law

import (
	"fmt"
	"slices"
	"time"
)

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
		Asks: "An announced reduction names the lowest price of the 30 days before it began, and is computed from " +
			"that price.",
		Source: "Directive 98/6/EC, Article 6a; CJEU C-330/23",
		URL:    "https://eur-lex.europa.eu/eli/dir/1998/6/2022-05-28",
		Mend: "Send a discount of the kind amount, from which the texts compute the real percentage, or a lower " +
			"price, or prior_price_exception with its reason.",
		applies: func(f Facts) bool { return f.Reduction != nil },
		broken:  func(f Facts) (string, string) { return f.Reduction.broken() },
	},
	{
		ID: DeepFakeLabel, Version: 1, Jurisdiction: EU, From: day(2026, time.August, 2, 2),
		Reads:  "deep_fake, and whether the finished media have the label",
		Asks:   "Media that are a deep fake say visibly that they were generated or manipulated.",
		Source: "Regulation (EU) 2024/1689, Article 50(4), first subparagraph",
		URL:    "https://eur-lex.europa.eu/eli/reg/2024/1689/oj",
		Mend: "Send fit pad or crop with media of your own, so that the label is drawn on them, or labelled: true if " +
			"they have a visible label already. Regenerate content that was generated before its factory had the " +
			"region.",
		applies: func(f Facts) bool { return f.DeepFake },
		broken: func(f Facts) (string, string) {
			if f.Labelled {
				return "", ""
			}
			return "/deep_fake", "needs a visible label on the media"
		},
	},
	{
		ID: PublicDisclosure, Version: 1, Jurisdiction: EU, From: day(2026, time.August, 2, 2),
		Reads: "the type of the factory, the approval, and the text",
		Asks: "Generated texts on matters of public interest say that they were generated, unless a person has " +
			"reviewed them.",
		Source:  "Regulation (EU) 2024/1689, Article 50(4), second subparagraph",
		URL:     "https://eur-lex.europa.eu/eli/reg/2024/1689/oj",
		Mend:    "Have a person approve the item, or leave the disclosure in its caption.",
		applies: func(f Facts) bool { return f.Informs && f.Generated && !f.Reviewed },
		broken: func(f Facts) (string, string) {
			if f.Disclosed {
				return "", ""
			}
			return "/caption", "lacks the disclosure that it was generated"
		},
	},
	{
		ID: AdPlatforms, Version: 1, Jurisdiction: "RU", From: day(2025, time.September, 1, 3),
		Reads:  "ad_marking, promotion_id, paid partnerships, and the platform",
		Asks:   "Nobody advertises on resources to which access is restricted in Russia.",
		Source: "Federal Law 38-FZ, Article 5(10.7), as amended by 72-FZ of 7 April 2025",
		URL:    "http://publication.pravo.gov.ru/document/0001202504070028",
		Mend: "Publish it to another platform, or publish content there that is no advertising: without a promotion, " +
			"ad_marking and a paid partnership.",
		applies: func(f Facts) bool { return f.Advertising && f.Platform != "" },
		broken: func(f Facts) (string, string) {
			if !slices.Contains(bannedInRussia, f.Platform) {
				return "", ""
			}
			return f.Param, fmt.Sprintf("has an account of %s, where advertising is forbidden", f.Platform)
		},
	},
	{
		ID: AdMarked, Version: 1, Jurisdiction: "RU", From: day(2022, time.September, 1, 3),
		Reads:  "ad_marking, promotion_id, paid partnerships, and the platform",
		Asks:   "Advertising on the internet says so, names the advertiser, and has the identifier of its register.",
		Source: "Federal Law 38-FZ, Article 18.1, as amended by 347-FZ of 2 July 2021",
		URL:    "http://publication.pravo.gov.ru/Document/View/0001202107020001",
		Mend: "Set ad_marking with advertiser, tax_id and the erid that an operator of advertising data has " +
			"assigned, on the item, its factory or its profile.",
		applies: func(f Facts) bool { return f.Advertising && f.Platform != "" },
		broken: func(f Facts) (string, string) {
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
