package bedrock

import (
	"encoding/json"

	"github.com/aws/smithy-go/encoding/httpbinding"
)

// The forms of Bedrock's API, with the members that are used.

// message is a turn of a conversation.
type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block has one of its members.
type block struct {
	Text       string      `json:"text,omitempty"`
	ToolUse    *toolUse    `json:"toolUse,omitempty"`
	ToolResult *toolResult `json:"toolResult,omitempty"`
}

type toolUse struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type toolResult struct {
	ID      string     `json:"toolUseId"`
	Status  string     `json:"status"`
	Content []document `json:"content"`
}

type document struct {
	JSON json.RawMessage `json:"json"`
}

type tool struct {
	Spec struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		InputSchema document `json:"inputSchema"`
	} `json:"toolSpec"`
}

type toolConfig struct {
	Tools []tool `json:"tools"`
}

type converseInput struct {
	System    []block   `json:"system,omitempty"`
	Messages  []message `json:"messages"`
	Inference struct {
		MaxTokens int `json:"maxTokens"`
	} `json:"inferenceConfig"`
	ToolConfig *toolConfig `json:"toolConfig,omitempty"`
}

type converseOutput struct {
	Output struct {
		Message *message `json:"message"`
	} `json:"output"`
	StopReason string `json:"stopReason"`
}

// guardrailInput has texts as blocks of their own form.
type guardrailInput struct {
	Source  string           `json:"source"`
	Content []guardrailBlock `json:"content"`
}

type guardrailBlock struct {
	Text block `json:"text"`
}

type outputConfig struct {
	S3 struct {
		URI string `json:"s3Uri"`
	} `json:"s3OutputDataConfig"`
}

type videoInput struct {
	Model  string         `json:"modelId"`
	Input  map[string]any `json:"modelInput"`
	Output outputConfig   `json:"outputDataConfig"`
	Token  string         `json:"clientRequestToken,omitempty"`
}

// invocationOutput is the state of an invocation.
type invocationOutput struct {
	Status  string       `json:"status"`
	Failure string       `json:"failureMessage"`
	Output  outputConfig `json:"outputDataConfig"`
}

// modelPath returns the path of an action of a model, whose id may be an ARN.
func modelPath(id, action string) string {
	return "/model/" + httpbinding.EscapePath(id, true) + "/" + action
}
