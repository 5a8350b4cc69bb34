package bedrock

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// guardTimeout bounds the time of a moderation, which takes less than a second as a rule.
const guardTimeout = 15 * time.Second

// Guardrail moderates texts by a guardrail of the AWS account.
type Guardrail struct {
	provider    *Provider
	id, version string
}

var _ provider.Moderator = (*Guardrail)(nil)

// Guardrail returns the guardrail of a name: its id, a colon, and its version or DRAFT.
func (p *Provider) Guardrail(name string) *Guardrail {
	id, version, _ := strings.Cut(name, ":")
	return &Guardrail{p, id, version}
}

// Moderate implements provider.Moderator. A text is flagged if the guardrail blocks or masks a part of it.
func (g *Guardrail) Moderate(ctx context.Context, text string) (flagged bool, err error) {
	var out *bedrockruntime.ApplyGuardrailOutput
	apply := call("ApplyGuardrail", guardTimeout, false)
	err = apply.Do(ctx, func(ctx context.Context) (err error) {
		out, err = g.provider.client.ApplyGuardrail(ctx, &bedrockruntime.ApplyGuardrailInput{
			GuardrailIdentifier: aws.String(g.id), GuardrailVersion: aws.String(g.version),
			Source: types.GuardrailContentSourceOutput,
			Content: []types.GuardrailContentBlock{&types.GuardrailContentBlockMemberText{
				Value: types.GuardrailTextBlock{Text: aws.String(text)}}},
		})
		if err == nil && !slices.Contains(out.Action.Values(), out.Action) {
			err = apply.Garbled(fmt.Errorf("the action is %q", out.Action))
		}
		return err
	})
	return err == nil && out.Action != types.GuardrailActionNone, err
}

// Open returns a provider that calls text models and guardrails alone. The endpoint of fakes replaces AWS, unless it is
// empty. Stand-ins may be nil.
func Open(cfg aws.Config, fakes string, standIns provider.StandIns) *Provider {
	if fakes != "" {
		fakes += "/" + Name
	}
	return New(Config{AWS: cfg, Endpoint: fakes, StandIns: standIns})
}

// Moderator returns the guardrail of a name, or nil if the name is empty. See Open for the fakes.
func Moderator(cfg aws.Config, guardrail, fakes string) provider.Moderator {
	if guardrail == "" {
		return nil
	}
	return Open(cfg, fakes, nil).Guardrail(guardrail)
}
