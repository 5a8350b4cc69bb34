package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// prices are the entries of litellm 1.110.2 for the models of the catalog, as published on 29 November 2026.
func prices(t *testing.T) map[string]price {
	t.Helper()
	raw, err := os.ReadFile("testdata/prices.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]price
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// regions are those of AWS that have Bedrock.
var regions = strings.Fields("ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2 ap-southeast-1 " +
	"ap-southeast-2 ap-southeast-3 ap-southeast-4 ca-central-1 eu-central-1 eu-central-2 eu-north-1 eu-south-1 eu-south-2 " +
	"eu-west-1 eu-west-2 eu-west-3 me-central-1 sa-east-1 us-east-1 us-east-2 us-west-1 us-west-2")

// profile is the beginning of the id by which AWS is asked for a model in a region, read from the documents of AWS.
func profile(profiles []string, region string, everywhere bool) string {
	of := map[string]string{"ap-northeast-1": "jp", "ap-northeast-3": "jp", "ap-southeast-2": "au", "ap-southeast-4": "au"}
	if name := of[region]; name != "" && slices.Contains(profiles, name) {
		return name + "."
	}
	geography := strings.Replace(region[:2], "ap", "apac", 1)
	if slices.Contains(profiles, geography) {
		return geography + "."
	}
	if everywhere && slices.Contains(profiles, "global") {
		return "global."
	}
	return ""
}

// Nothing is sold below cost, wherever the stack is: a credit is a cent, and the charge is that of AWS's price list for
// the id by which the model is called there.
func TestNothingIsSoldBelowCost(t *testing.T) {
	published, compared := prices(t), 0
	for _, region := range regions {
		for _, everywhere := range []bool{false, true} {
			providers := strings.Join(catalog.Providers(), ",")
			if everywhere {
				providers += "," + provider.BedrockEverywhere
			}
			offer := catalog.NewOffer(providers, region, nil)
			for _, r := range catalog.Rows() {
				m, _ := offer.Find(r.ID)
				listed := offer.Models(catalog.Filter{Kind: m.Kind}, true)
				if i := slices.IndexFunc(listed, func(l catalog.Model) bool { return l.ID == m.ID }); listed[i].State !=
					catalog.Available {
					continue
				}
				name := names(r, "")
				if m.Provider == "bedrock" {
					name = profile(r.Profiles(), region, everywhere) + r.ProviderModel
				}
				theirs, ok := published[name]
				if !ok {
					if m.Kind == provider.KindText {
						t.Errorf("%s is offered in %s, and %s has no published price", m.ID, region, name)
					}
					continue
				}
				compared++
				below(t, region, m, theirs)
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d prices were compared", compared)
	}
}

// below fails if a quantity costs more at the provider than the service charges.
func below(t *testing.T, region string, m catalog.Model, theirs price) {
	t.Helper()
	second := theirs.Second
	for resolution, of := range map[string]json.Number{"480p": theirs.Second480, "720p": theirs.Second720,
		"768p": theirs.Second768, "1080p": theirs.Second1080} {
		if m.Capabilities.Resolution == resolution && of != "" {
			second = of
		}
	}
	for _, c := range []struct {
		q    catalog.Quantity
		cost []any // pairs of units and the price of each
	}{
		{catalog.Quantity{InputTokens: 90_000, OutputTokens: 1_000_000}, []any{90_000, theirs.Input, 1_000_000,
			theirs.Output}},
		{catalog.Quantity{InputTokens: 1_000_000, OutputTokens: 1_000_000}, []any{1_000_000,
			or(theirs.InputLong, theirs.Input), 1_000_000, or(theirs.OutputLong, theirs.Output)}},
		{catalog.Quantity{Characters: 1_000_000}, []any{1_000_000, theirs.Characters}},
		{catalog.Quantity{Images: 1000}, []any{1000, theirs.Image}},
		{catalog.Quantity{Length: 1000 * time.Second}, []any{1000, second}},
	} {
		cents := new(big.Rat)
		for i := 0; i < len(c.cost); i += 2 {
			if each := c.cost[i+1].(json.Number); each != "" {
				cents.Add(cents, new(big.Rat).Mul(big.NewRat(int64(c.cost[i].(int))*100, 1), rat(string(each))))
			}
		}
		credits, err := m.Cost(c.q)
		if err != nil || new(big.Rat).SetInt64(credits).Cmp(cents) < 0 {
			t.Errorf("%s in %s: %d credits for %s cents, %v: %+v", m.ID, region, credits, cents.FloatString(2), err, c.q)
		}
	}
}

func or(a, b json.Number) json.Number {
	if a != "" {
		return a
	}
	return b
}

// Each difference is named: another price, another end, an endpoint or a price that is not there.
func TestDifferencesAreFound(t *testing.T) {
	p := published{litellm: "litellm 1", client: "client-1", prices: prices(t), endpoints: map[string]bool{}}
	for _, r := range catalog.Rows() {
		p.endpoints[r.ProviderModel] = true
	}
	before := compare(catalog.Rows(), p)
	p.prices["eu.anthropic.claude-haiku-5-5"] = price{Input: "1.1e-07", Output: "6e-07", InputLong: "5.5e-07", Ends: "2027-10-07"}
	p.prices["elevenlabs/eleven_v4"] = price{Characters: "7e-05"}
	delete(p.prices, "aws_polly/neural")
	delete(p.endpoints, "fal-ai/ideogram/v3")
	var said []string
	for _, d := range compare(catalog.Rows(), p) {
		if !slices.Contains(before, d) {
			said = append(said, d.Text)
		}
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{
		"claude-haiku-5.5 has of eu output $0.55 for 1000 units, LESS than the published 6e-07",
		"claude-haiku-5.5 has of eu the end 2027-10-07 (the catalog has none)",
		"eleven-4 has speech $0.08 for a unit, more than the published 7e-05",
		"polly-neural has no price in litellm 1", "ideogram-3 is not among the endpoints of client-1",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("it does not say %q:\n%s", want, all)
		}
	}
	if len(said) != 5 {
		t.Errorf("%d differences:\n%s", len(said), all)
	}
}

// The packages are read as they are published, and the check fails if a model ends soon.
func TestThePackagesAreRead(t *testing.T) {
	directory := t.TempDir()
	wheel := filepath.Join(directory, "litellm-1.2.3-py3-none-any.whl")
	w, err := os.Create(wheel)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(w)
	f, err := z.Create("litellm/model_prices_and_context_window_backup.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(`{"elevenlabs/eleven_v4": {"input_cost_per_character": 8e-05, "mode": "audio_speech"}}`)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	client := filepath.Join(directory, "fal-ai-client-1.10.1.tgz")
	c, err := os.Create(client)
	if err != nil {
		t.Fatal(err)
	}
	zipped := gzip.NewWriter(c)
	files := tar.NewWriter(zipped)
	types := "export type EndpointTypeMap = {\n    \"fal-ai/veo3.1/lite\": {\n        input: X;\n    };\n};\n"
	if err := files.WriteHeader(&tar.Header{Name: "package/src/types/endpoints.d.ts", Mode: 0o600,
		Size: int64(len(types))}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write([]byte(types)); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := readPublished(wheel, client)
	if err != nil || p.litellm != "litellm 1.2.3" || !p.endpoints["fal-ai/veo3.1/lite"] ||
		p.prices["elevenlabs/eleven_v4"].Characters != "8e-05" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := readPublished(client, wheel); err == nil {
		t.Error("packages of another form are accepted")
	}
	var out strings.Builder
	found := []catalog.Difference{{Model: "a", Text: "a ends on 2027-01-01", Ends: true}}
	if err := report(&out, found, p); err == nil || !strings.Contains(out.String(), "a ends on 2027-01-01") {
		t.Errorf("%v: %s", err, out.String())
	}
	if err := report(&out, nil, p); err != nil {
		t.Error(err)
	}
}

func TestTheTableHasEachRow(t *testing.T) {
	table := tableOf(catalog.Rows(), published{litellm: "litellm 1", client: "client-1"})
	for _, r := range catalog.Rows() {
		if !strings.Contains(table, "| `"+r.ID+"` |") {
			t.Errorf("%s is not in the table", r.ID)
		}
	}
	for _, want := range []string{
		"elsewhere: $0.10 in, $0.50 out; above 100000 tokens $0.50 in, $2.50 out",
		"| `nano-banana-pro` | available | $0.15 a picture | All | 2027-05-28, then `nano-banana-2.1` |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("it lacks %q:\n%s", want, table)
		}
	}
}
