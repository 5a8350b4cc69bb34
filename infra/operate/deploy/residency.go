package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// residency prints where the data of the customer goes: which models of the stack process it in the stack's region,
// which elsewhere, and who runs them.
func residency(_ context.Context, o order, _ io.Reader, out io.Writer) error {
	_, err := io.WriteString(out, residencyTable(o.Settings))
	return err
}

// resident has the places where models process their input.
type resident struct {
	operator, place string
	leaves          bool // the region
	sent            string
	models          []string
}

// given is the input of providers for each kind of media.
var given = map[provider.Kind]string{
	provider.KindText:   "prompts, settings of the factory",
	provider.KindImage:  "prompts",
	provider.KindVideo:  "prompts, pictures",
	provider.KindMusic:  "prompts, lyrics",
	provider.KindVoice:  "texts to speak",
	provider.KindAvatar: "texts, portraits, recordings",
}

// residents returns the rows of a customer's stack, those within the region first.
func residents(s customer.Settings) []resident {
	found := map[string]*resident{}
	for _, m := range catalog.Models(catalog.Filter{}) {
		if m.State == catalog.Retired || !slices.Contains(s.Providers, m.Provider) ||
			!m.In(s.Region, s.GlobalProfiles) {
			continue
		}
		name, at, leaves := place(s, m)
		key := name + at + given[m.Kind]
		if found[key] == nil {
			found[key] = &resident{operator: name, place: at, leaves: leaves, sent: given[m.Kind]}
		}
		found[key].models = append(found[key].models, m.ID)
	}
	var all []resident
	for _, r := range found {
		slices.Sort(r.models)
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b resident) int {
		return strings.Compare(fmt.Sprint(a.leaves, a.operator, a.place, a.sent),
			fmt.Sprint(b.leaves, b.operator, b.place, b.sent))
	})
	return all
}

// place returns who runs a model and where, and whether data leaves the region for it.
func place(s customer.Settings, m catalog.Model) (operator, where string, leaves bool) {
	// The APIs of operators outside AWS take no region: where they process data is a matter of
	// the contract with them.
	if p, _ := provider.FindRow(m.Provider); p.Operator != "" {
		return p.Operator, "as agreed with the operator; the API names no region", true
	}
	name := provider.ProfileIn(s.Region, m.ProviderOptions, s.GlobalProfiles)
	switch {
	case name == "":
		return "AWS", s.Region, false
	case slices.Contains(provider.RegionsOf(name), "*"):
		return "AWS", "any AWS region in the world", true
	default:
		return "AWS", "AWS regions " + strings.Join(provider.RegionsOf(name), ", "), true
	}
}

// residencyTable returns the rows as a table in Markdown.
func residencyTable(s customer.Settings) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Data of %s is stored in %s (%s).\n\n| Operator | Processed in | Leaves %[2]s | Sent | Models "+
		"|\n|---|---|---|---|---|\n", s.Customer, s.Region, s.Name())
	for _, r := range residents(s) {
		leaves := "no"
		if r.leaves {
			leaves = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.operator, r.place, leaves, r.sent,
			strings.Join(r.models, ", "))
	}
	if len(s.Providers) == 0 {
		b.WriteString("| none | | no | | |\n")
	}
	if s.Replicated() {
		fmt.Fprintf(&b, "\nAll data is copied to %s (%s), as it changes.\n", s.Replica.Region, s.There().Name())
	}
	if s.Backup != nil && s.Backup.CopyTo != "" {
		fmt.Fprintf(&b, "\nBackups are copied to `%s`.\n", s.Backup.CopyTo)
	}
	return b.String()
}
