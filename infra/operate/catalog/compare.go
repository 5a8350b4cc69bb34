package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// names returns litellm's name of a row in a place.
func names(r catalog.Row, place string) string {
	switch r.Provider {
	case "bedrock":
		if slices.Contains(r.Profiles(), place) {
			return place + "." + r.ProviderModel
		}
		return r.ProviderModel
	case "polly":
		return "aws_polly/" + r.ProviderModel
	case "fal":
		if quality := r.ProviderOptions["quality"]; quality != "" {
			return "fal_ai/" + quality + "/1024-x-1024/" + r.ProviderModel
		}
		return "fal_ai/" + r.ProviderModel
	default:
		return r.Provider + "/" + r.ProviderModel
	}
}

// compare returns the differences between the rows and what is published.
func compare(rows []catalog.Row, p published) (all []catalog.Difference) {
	for _, r := range rows {
		if r.State == catalog.Retired {
			continue
		}
		add := func(format string, args ...any) {
			all = append(all, catalog.Difference{Model: r.ID, Text: r.ID + " " + fmt.Sprintf(format, args...)})
		}
		if r.Provider == "fal" && !p.endpoints[r.ProviderModel] {
			add("is not among the endpoints of %s: %s", p.client, r.ProviderModel)
		}
		compared := 0
		for _, place := range places(r) {
			theirs, known := p.prices[names(r, place)]
			if !known {
				continue
			}
			compared++
			for _, said := range differences(r, place, theirs) {
				add("%s", said)
			}
		}
		if compared == 0 {
			add("has no price in %s: %s of %s", p.litellm, r.Charges[""], r.Source)
		}
	}
	return all
}

// places returns the places of a row that have a price: the profiles, or else any.
func places(r catalog.Row) []string {
	if all := r.Profiles(); len(all) > 0 {
		return all
	}
	return []string{""}
}

// charge returns what the catalog says that a row is charged in a place.
func charge(r catalog.Row, place string) catalog.Charge {
	if c, ok := r.Charges[place]; ok {
		return c
	}
	return r.Charges[""]
}

// differences returns what a published price has otherwise than the row in a place.
func differences(r catalog.Row, place string, theirs price) (all []string) {
	ours := charge(r, place)
	where := ""
	if place != "" {
		where = " of " + place
	}
	for _, part := range parts(r, ours, theirs) {
		if part.theirs == "" {
			continue
		}
		if mine, yours := perUnit(part.ours, ours.Per, part.units), rat(string(part.theirs)); mine.Cmp(yours) != 0 {
			says := "more"
			if mine.Cmp(yours) < 0 {
				says = "LESS"
			}
			all = append(all, fmt.Sprintf("has%s %s $%s for %s, %s than the published %s", where, part.what, part.ours,
				amount(ours.Per), says, part.theirs))
		}
	}
	known := ""
	if r.RetiresAt != nil {
		known = r.RetiresAt.UTC().Format(time.DateOnly)
	}
	if theirs.Ends != "" && theirs.Ends != known {
		all = append(all, fmt.Sprintf("has%s the end %s (the catalog has %s)", where, theirs.Ends, cmp.Or(known, "none")))
	}
	return all
}

// part is a price of the catalog, and the published one for a single unit.
type part struct {
	what   string
	ours   string
	theirs json.Number
	units  int64 // single units in a unit of the catalog
}

// parts pairs the prices of a row with the published ones.
func parts(r catalog.Row, ours catalog.Charge, theirs price) []part {
	switch r.Kind {
	case provider.KindText:
		return []part{{"input", ours.USDInput, theirs.Input, 1000}, {"output", ours.USD, theirs.Output, 1000},
			{"long input", cmp.Or(ours.AboveUSDInput, ours.USDInput), theirs.InputLong, 1000},
			{"long output", cmp.Or(ours.AboveUSD, ours.USD), theirs.OutputLong, 1000}}
	case provider.KindVoice:
		return []part{{"speech", ours.USD, theirs.Characters, 1000}}
	case provider.KindImage:
		return []part{{"a picture", ours.USD, theirs.Image, 1}}
	case provider.KindVideo:
		of := map[string]json.Number{"480p": theirs.Second480, "720p": theirs.Second720, "768p": theirs.Second768,
			"1080p": theirs.Second1080}[r.Capabilities.Resolution]
		return []part{{"a second", ours.USD, cmp.Or(of, theirs.Second), 1}}
	}
	return nil
}

// perUnit returns an amount for some units of the catalog as one for a single unit.
func perUnit(usd string, per, units int64) *big.Rat {
	return new(big.Rat).Quo(rat(usd), big.NewRat(per*units, 1))
}

// rat reads an amount. One that cannot be read is zero, which differs from each price.
func rat(amount string) *big.Rat {
	r, ok := new(big.Rat).SetString(amount)
	if !ok {
		return new(big.Rat)
	}
	return r
}

func amount(per int64) string {
	if per == 1 {
		return "a unit"
	}
	return fmt.Sprintf("%d units", per)
}

// tableOf returns the table of rows.
func tableOf(rows []catalog.Row, p published) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Models

For operators. `+"`go run ./infra/operate/catalog`"+` writes this file from
`+"`pkg/generate/catalog/models.json`"+`, compares it with %s and %s, and prints each difference. The price is one credit
for a cent of the charge. A charge of a text model is for a million tokens. *Elsewhere* is the charge of places that the
row does not name.

| Model | State | Charged in US dollars | Regions or profiles | End | Source | Read on |
|---|---|---|---|---|---|---|
`, p.litellm, p.client)
	for _, r := range rows {
		end := "None named"
		if r.RetiresAt != nil {
			end = r.RetiresAt.UTC().Format(time.DateOnly)
			if r.Successor != nil {
				end += ", then `" + *r.Successor + "`"
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | [%s](%s) | %s |\n", r.ID, r.State, charges(r), where(r), end,
			r.Provider, r.Source, r.ReadOn.Format(time.DateOnly))
	}
	return b.String()
}

// charges returns the charges of a row by place.
func charges(r catalog.Row) string {
	unit := map[catalog.Unit]string{catalog.PerTokens: "", catalog.PerImage: " a picture", catalog.PerSecond: " a second",
		catalog.PerCharacters: " for 1,000 characters", catalog.PerTrack: " a track"}[r.Price.Unit]
	if r.Price.Megapixels > 0 {
		unit = fmt.Sprintf(" for %d megapixels", r.Price.Megapixels)
	}
	by := map[string][]string{}
	for _, place := range slices.Sorted(maps.Keys(r.Charges)) {
		said := r.Charges[place].String() + unit
		if per := r.Charges[place].Per; per > 1 && r.Kind != provider.KindText {
			said += fmt.Sprintf(" times %d", per)
		}
		by[said] = append(by[said], cmp.Or(place, "elsewhere"))
	}
	var all []string
	for _, said := range slices.Sorted(maps.Keys(by)) {
		if len(by) == 1 {
			return said
		}
		all = append(all, strings.Join(by[said], ", ")+": "+said)
	}
	return strings.Join(all, "; ")
}

// where returns the regions or profiles of a row.
func where(r catalog.Row) string {
	switch profiles := r.Profiles(); {
	case len(profiles) > 0 && len(r.Regions) > 0:
		return strings.Join(profiles, ", ") + fmt.Sprintf(" (%d regions)", len(r.Regions))
	case len(profiles) > 0:
		return strings.Join(profiles, ", ")
	case len(r.Regions) > 3:
		return fmt.Sprintf("%d regions", len(r.Regions))
	case len(r.Regions) > 0:
		return strings.Join(r.Regions, ", ")
	}
	return "All"
}
