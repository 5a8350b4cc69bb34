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

// Limits returns the calls a minute that the quotas of an account let models of Bedrock take, by their ids, and the ids
// of those that no quota names. A model that is called by an inference profile takes the quota across regions, and
// another one that on demand.
func Limits(models []catalog.Model, quotas []Quota) (limits map[string]int, unknown []string) {
	limits = map[string]int{}
	for _, m := range models {
		most := 0
		for _, q := range quotas {
			kind, name, ok := strings.Cut(q.Name, requests)
			across := strings.Contains(strings.ToLower(kind), "cross-region")
			if ok && names(name, m.Name) && across == (m.ProviderOptions["profiles"] != "") {
				most = max(most, int(q.Value))
			}
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

// bedrockModels returns the available models of Bedrock of a customer.
func (r run) bedrockModels() []catalog.Model {
	return slices.DeleteFunc(catalog.Models(catalog.Filter{Provider: "bedrock"}), func(m catalog.Model) bool {
		return m.State != catalog.Available || !m.In(r.Region, r.GlobalProfiles)
	})
}

// quotas shows what Bedrock takes a minute. Calls beyond that are throttled, unless there is a limit of the same.
func (r run) quotas(ctx context.Context) (finding, error) {
	if !slices.Contains(r.Providers, "bedrock") {
		return found(Skipped, "the providers of %s do not include bedrock", r.Customer)
	}
	quotas, err := r.Quotas(ctx, "bedrock")
	if err != nil {
		return finding{}, err
	}
	limits, unknown := Limits(r.bedrockModels(), quotas)
	var said []string
	for _, m := range r.bedrockModels() {
		if n := limits[m.ID]; n > 0 {
			said = append(said, fmt.Sprintf("%s %d", m.ID, n))
		}
	}
	text := "calls a minute: " + strings.Join(said, ", ") + ". `admin provider quotas` limits each model to these"
	if len(unknown) > 0 {
		return found(Warning, "%s. No quota names %s: look them up, and limit each by `admin provider limit`", text,
			strings.Join(unknown, ", "))
	}
	return found(OK, "%s", text)
}
