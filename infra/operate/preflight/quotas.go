package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"

	"github.com/content-automation/api/pkg/generate/catalog"
)

// Quota is a quota of an AWS account, as Service Quotas names it.
type Quota struct {
	Name  string
	Value float64
}

// Quotas implements Account.
func (a AWS) Quotas(ctx context.Context, service string) (all []Quota, err error) {
	if a.Config.BaseEndpoint != nil {
		return nil, ErrUnsupported // An emulated AWS has no quotas.
	}
	pages := servicequotas.NewListServiceQuotasPaginator(servicequotas.NewFromConfig(a.Config),
		&servicequotas.ListServiceQuotasInput{ServiceCode: &service})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, a.known(err)
		}
		for _, q := range page.Quotas {
			all = append(all, Quota{aws.ToString(q.QuotaName), aws.ToFloat64(q.Value)})
		}
	}
	return all, nil
}

// requests stands in the names of the quotas of Bedrock that count calls, such as "On-demand model inference requests
// per minute for Amazon Nova Lite" and "Cross-region model inference requests per minute for Anthropic Claude Haiku
// 4.5": https://docs.aws.amazon.com/general/latest/gr/bedrock.html.
const requests = "requests per minute for "

// LimitedServices are the services of AWS whose quotas limit models. They are named like their providers.
var LimitedServices = []string{"bedrock", "polly"}

// speech stands in the names of the quotas of Polly that count calls: those of SynthesizeSpeech a second, by the engine
// of the voices. Those of calls in progress and of bursts are other quotas:
// https://docs.aws.amazon.com/polly/latest/dg/limits.html.
const speech = "synthesizespeech"

// perMinute returns the calls of a model a minute that a quota permits, or 0 for a quota of something else.
func perMinute(m catalog.Model, q Quota) int {
	if m.Provider == "polly" {
		name := strings.ToLower(strings.ReplaceAll(q.Name, " ", "-"))
		if !strings.Contains(name, speech) || !strings.Contains(name, strings.ToLower(m.ProviderModel)) ||
			strings.Contains(name, "concurren") || strings.Contains(name, "burst") {
			return 0
		}
		return int(q.Value * 60)
	}
	kind, name, ok := strings.Cut(q.Name, requests)
	across := strings.Contains(strings.ToLower(kind), "cross-region")
	if !ok || !names(name, m.Name) || across != (m.ProviderOptions["profiles"] != "") {
		return 0
	}
	return int(q.Value)
}

// Limits returns the calls a minute that the quotas of an account let models take, by their ids, and the ids of those
// that no quota names. A model of Bedrock that is called by an inference profile takes the quota across regions, and
// another one that on demand.
func Limits(models []catalog.Model, quotas []Quota) (limits map[string]int, unknown []string) {
	limits = map[string]int{}
	for _, m := range models {
		most := 0
		for _, q := range quotas {
			most = max(most, perMinute(m, q))
		}
		if most == 0 {
			unknown = append(unknown, m.ID)
			continue
		}
		limits[m.ID] = most
	}
	return limits, unknown
}

// names reports whether the name of a quota is that of a model: the same words at its end, after the maker, and a
// version that may follow.
func names(quota, model string) bool {
	words := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
			return r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
	}
	have, want := words(quota), words(model)
	version := func(word string) bool { return unicode.IsDigit([]rune(strings.TrimPrefix(word, "v") + ".")[0]) }
	if n := len(have); n > 0 && !slices.Contains(want, have[n-1]) && version(have[n-1]) {
		have = have[:n-1]
	}
	// At most two words come before: "Anthropic", or "Stability AI".
	before := len(have) - len(want)
	return before >= 0 && before <= 2 && slices.Equal(have[before:], want)
}

// modelsOf returns the available models of a provider on AWS for a customer.
func (r run) modelsOf(provider string) []catalog.Model {
	return slices.DeleteFunc(catalog.Models(catalog.Filter{Provider: provider}), func(m catalog.Model) bool {
		return m.State != catalog.Available || !m.In(r.Region, r.GlobalProfiles)
	})
}

// quotas shows what Bedrock and Polly take a minute. Calls beyond that are throttled, unless there is a limit of the
// same.
func (r run) quotas(ctx context.Context) (finding, error) {
	var said, unknown []string
	for _, service := range LimitedServices {
		if !slices.Contains(r.Providers, service) {
			continue
		}
		quotas, err := r.Quotas(ctx, service)
		if err != nil {
			return finding{}, err
		}
		limits, others := Limits(r.modelsOf(service), quotas)
		for _, m := range r.modelsOf(service) {
			if n := limits[m.ID]; n > 0 {
				said = append(said, fmt.Sprintf("%s %d", m.ID, n))
			}
		}
		unknown = append(unknown, others...)
	}
	if len(said)+len(unknown) == 0 {
		return found(Skipped, "the providers of %s do not include %s", r.Customer, strings.Join(LimitedServices, " or "))
	}
	text := "calls a minute: " + strings.Join(said, ", ") + ". `admin provider quotas` limits each model to these"
	if len(unknown) > 0 {
		return found(Warning, "%s. No quota names %s: look them up, and limit each by `admin provider limit`", text,
			strings.Join(unknown, ", "))
	}
	return found(OK, "%s", text)
}
