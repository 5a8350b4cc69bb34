package bedrock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/content-automation/api/pkg/adapter/provider"
)

var _ provider.Converser = (*Provider)(nil)

// Converse implements provider.Converser.
func (p *Provider) Converse(ctx context.Context, c provider.Conversation) (provider.Turn, error) {
	in := &bedrockruntime.ConverseInput{
		System:          []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: c.System}},
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(c.Tokens))},
	}
	for _, t := range c.Turns {
		m, err := message(t)
		if err != nil {
			return provider.Turn{}, err
		}
		in.Messages = append(in.Messages, m)
	}
	if len(c.Tools) > 0 {
		in.ToolConfig = &types.ToolConfiguration{}
	}
	for _, t := range c.Tools {
		schema, err := documentOf(t.Input)
		if err != nil {
			return provider.Turn{}, fmt.Errorf("bedrock: schema of %s: %w", t.Name, err)
		}
		in.ToolConfig.Tools = append(in.ToolConfig.Tools, &types.ToolMemberToolSpec{Value: types.ToolSpecification{
			Name: aws.String(t.Name), Description: aws.String(t.Description),
			InputSchema: &types.ToolInputSchemaMemberJson{Value: schema},
		}})
	}
	var turn provider.Turn
	call := call("Converse", textTimeout, true)
	_, err := p.standIns.Call(c.Model, c.Options, func(model string, options map[string]string) error {
		in.ModelId = p.model(provider.Request{Model: model, Options: options})
		return call.Do(ctx, func(ctx context.Context) error {
			out, err := p.client.Converse(ctx, in)
			if err != nil {
				return err
			}
			if err := stopped(out.StopReason); err != nil {
				return err
			}
			if turn, err = turnOf(out.Output); err != nil {
				return call.Garbled(err)
			}
			return nil
		})
	})
	return turn, err
}

// stopped returns the error of an answer that ended early, or nil if the answer can be used.
func stopped(reason types.StopReason) error {
	switch reason {
	case types.StopReasonContentFiltered, types.StopReasonGuardrailIntervened:
		return filtered(errors.New("Converse stopped: " + string(reason)))
	case types.StopReasonModelContextWindowExceeded:
		return badInput("The prompt is longer than the model can read.")
	case types.StopReasonMalformedModelOutput, types.StopReasonMalformedToolUse:
		return &provider.Error{Kind: provider.Transient, Code: "text_unreadable",
			Message: "The model's text could not be read.", Cause: errors.New("Converse stopped: " + string(reason))}
	}
	return nil
}

// message returns a turn in the form of Bedrock.
func message(t provider.Turn) (types.Message, error) {
	m := types.Message{Role: types.ConversationRoleUser}
	if t.Model {
		m.Role = types.ConversationRoleAssistant
	}
	// The results of tools come first.
	for _, r := range t.Results {
		content, err := documentOf(r.Content)
		if err != nil {
			return m, fmt.Errorf("bedrock: result of %s: %w", r.ID, err)
		}
		status := types.ToolResultStatusSuccess
		if r.Failed {
			status = types.ToolResultStatusError
		}
		m.Content = append(m.Content, &types.ContentBlockMemberToolResult{Value: types.ToolResultBlock{
			ToolUseId: aws.String(r.ID), Status: status,
			Content: []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberJson{Value: content}},
		}})
	}
	if strings.TrimSpace(t.Text) != "" {
		m.Content = append(m.Content, &types.ContentBlockMemberText{Value: t.Text})
	}
	for _, c := range t.Calls {
		input, err := documentOf(c.Input)
		if err != nil {
			return m, fmt.Errorf("bedrock: input of %s: %w", c.ID, err)
		}
		m.Content = append(m.Content, &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{ToolUseId: aws.String(
			c.ID), Name: aws.String(c.Name), Input: input}})
	}
	return m, nil
}

// turnOf reads a turn of the model, without its reasoning.
func turnOf(out types.ConverseOutput) (provider.Turn, error) {
	t := provider.Turn{Model: true, Text: strings.TrimSpace(words(out))}
	m, ok := out.(*types.ConverseOutputMemberMessage)
	if !ok {
		return t, errors.New("there is no message")
	}
	for _, block := range m.Value.Content {
		use, ok := block.(*types.ContentBlockMemberToolUse)
		if !ok {
			continue
		}
		c := provider.ToolCall{ID: aws.ToString(use.Value.ToolUseId), Name: aws.ToString(use.Value.Name),
			Input: json.RawMessage("{}")}
		if use.Value.Input != nil {
			input, err := use.Value.Input.MarshalSmithyDocument()
			if err != nil {
				return t, fmt.Errorf("input of %s: %w", c.Name, err)
			}
			c.Input = input
		}
		t.Calls = append(t.Calls, c)
	}
	if t.Text == "" && len(t.Calls) == 0 {
		return t, errors.New("the message is empty")
	}
	return t, nil
}

// documentOf returns JSON in the form of the SDK.
func documentOf(raw json.RawMessage) (document.Interface, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	return document.NewLazyDocument(v), nil
}
