// Command residency prints where the data of a customer goes: which generation models of its stack process it in the
// stack's region, which elsewhere, and who runs them.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/content-automation/api/infra/app/customer"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "residency:", err)
		os.Exit(1)
	}
}

// run prints the table of the customer that is named, in the region that is named or its own.
func run(args []string, out io.Writer) error {
	if len(args) < 1 || len(args) > 2 {
		return errors.New("name a customer of cdk.json, and a region if it is not that of its entry")
	}
	data, err := os.ReadFile("cdk.json")
	if err != nil {
		return err
	}
	var file struct{ Context map[string]any }
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("read cdk.json: %w", err)
	}
	file.Context["customer"] = args[0]
	if len(args) == 2 {
		file.Context["region"] = args[1]
	}
	s, err := customer.Read(func(key string) any { return file.Context[key] })
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, table(s))
	return err
}

// row has the places where models process their input.
type row struct {
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

// rows returns the rows of a customer's stack, those within the region first.
func rows(s customer.Settings) []row {
	found := map[string]*row{}
	for _, m := range catalog.Models(catalog.Filter{}) {
		if m.State == catalog.Retired || !slices.Contains(s.Providers, m.Provider) ||
			!m.In(s.Region, s.GlobalProfiles) {
			continue
		}
		name, at, leaves := place(s, m)
		key := name + at + given[m.Kind]
		if found[key] == nil {
			found[key] = &row{operator: name, place: at, leaves: leaves, sent: given[m.Kind]}
		}
		found[key].models = append(found[key].models, m.ID)
	}
	var all []row
	for _, r := range found {
		slices.Sort(r.models)
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b row) int {
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

// table returns the rows as a table in Markdown.
func table(s customer.Settings) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Data of %s is stored in %s (%s).\n\n| Operator | Processed in | Leaves %[2]s | Sent | Models "+
		"|\n|---|---|---|---|---|\n", s.Customer, s.Region, s.Name())
	for _, r := range rows(s) {
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
