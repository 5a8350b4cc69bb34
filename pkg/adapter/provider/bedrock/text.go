package bedrock

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// write has a text written, by another model if AWS refuses the requested one.
func (p *Provider) write(ctx context.Context, req provider.Request) (sub provider.Submission, err error) {
	var standIn string
	standIn, err = p.standIns.Call(req.Model, req.Options, func(model string, options map[string]string) error {
		req.Model, req.Options = model, options
		sub, err = p.writeBy(ctx, req)
		return err
	})
	sub.StandIn = standIn
	return sub, err
}

func (p *Provider) writeBy(ctx context.Context, req provider.Request) (provider.Submission, error) {
	system, user := provider.TextPrompt(req)
	var blocks []types.SystemContentBlock
	if system != "" {
		blocks = append(blocks, &types.SystemContentBlockMemberText{Value: system})
	}
	var out *bedrockruntime.ConverseOutput
	err := call("Converse", textTimeout, true).Do(ctx, func(ctx context.Context) (err error) {
		out, err = p.client.Converse(ctx, &bedrockruntime.ConverseInput{
			ModelId: p.model(req),
			System:  blocks,
			Messages: []types.Message{{Role: types.ConversationRoleUser,
				Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: user}}}},
			// The price was fixed by this bound of the answer.
			InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(
				int32(provider.TextTokens(req).Output))},
		})
		return err
	})
	if err != nil {
		return provider.Submission{}, err
	}
	if req.Form == nil && (out.StopReason == types.StopReasonContentFiltered ||
		out.StopReason == types.StopReasonGuardrailIntervened) {
		flagged := provider.FailureOf(provider.FailedFlagged)
		flagged.Cause = errors.New("Converse stopped: " + string(out.StopReason))
		return provider.Submission{}, flagged
	}
	if err := stopped(out.StopReason); err != nil {
		return provider.Submission{}, err
	}
	if req.Form != nil {
		object, err := provider.ParseObject(words(out.Output))
		if err != nil {
			return provider.Submission{}, err
		}
		return provider.Submission{Result: &provider.Result{Object: object}}, nil
	}
	text, err := provider.ParseText(words(out.Output), req)
	if err != nil {
		return provider.Submission{}, err
	}
	return provider.Submission{Result: &provider.Result{Text: &text}}, nil
}

// words returns the text of the model, without its reasoning.
func words(out types.ConverseOutput) string {
	message, ok := out.(*types.ConverseOutputMemberMessage)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, block := range message.Value.Content {
		if text, ok := block.(*types.ContentBlockMemberText); ok {
			b.WriteString(text.Value)
		}
	}
	return b.String()
}
