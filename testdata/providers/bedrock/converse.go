package bedrock

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/providers/control"
)

type block struct {
	Text *string `json:"text"`
}

type message struct {
	Role    string    `json:"role"`
	Content []content `json:"content"`
}

// maxTokens is the greatest output of all models, in tokens.
const maxTokens = 65_536

// converse serves POST /model/{model}/converse.
func (f *fake) converse(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages        []message `json:"messages"`
		System          []block   `json:"system"`
		InferenceConfig struct {
			MaxTokens     *int     `json:"maxTokens"`
			Temperature   *float64 `json:"temperature"`
			TopP          *float64 `json:"topP"`
			StopSequences []string `json:"stopSequences"`
		} `json:"inferenceConfig"`
		ToolConfig *toolConfig `json:"toolConfig"`
	}
	called := r.PathValue("model")
	var model string
	var ok bool
	if isCustom(called) {
		model, ok = f.custom(w, called)
	} else {
		model, ok = f.check(w, called, "text")
		called = model
	}
	if !ok {
		return
	}
	sent, ok := read(w, r, &body)
	if !ok {
		return
	}
	system := ""
	for _, b := range body.System {
		if b.Text == nil || *b.Text == "" {
			invalid(w, "The text field in the system prompt is blank.")
			return
		}
		system += *b.Text
	}
	prompt, problem := body.ToolConfig.read(model, body.Messages)
	if problem != "" {
		invalid(w, problem)
		return
	}
	most := maxTokens
	if body.InferenceConfig.MaxTokens != nil {
		most = *body.InferenceConfig.MaxTokens
	}
	switch {
	case most < 1 || most > maxTokens:
		invalid(w, "The maximum tokens you requested exceeds the model limit.")
		return
	}
	f.Control.Accept(control.Acceptance{Provider: Name, Operation: control.Submit, Model: called, Prompt: prompt,
		Input: sent})
	if control.JobFails(r.Context()) || strings.Contains(prompt, Filtered) {
		answer(w, model, "", "content_filtered", system+prompt)
		return
	}
	if body.ToolConfig != nil {
		talk(w, body.Messages)
		return
	}
	text, stop := written(system, prompt), "end_turn"
	if runes := []rune(text); len(runes) > most*charactersPerToken {
		text, stop = string(runes[:most*charactersPerToken]), "max_tokens"
	}
	answer(w, model, text, stop, system+prompt)
}

// charactersPerToken is the length of a token in this fake.
const charactersPerToken = 3

// The expressions by which prompts request parts of a text.
var (
	languageAsked = regexp.MustCompile(`the language with the BCP 47 tag "([\w-]+)"`)
	picturesAsked = regexp.MustCompile(`"pictures": an array of exactly (\d+)`)
	slidesAsked   = regexp.MustCompile(`"slides": an array of exactly (\d+)`)
	scenesAsked   = regexp.MustCompile(`"scenes": an array of exactly (\d+)`)
	wordsAsked    = regexp.MustCompile(`about (\d+) words`)
	tagsAsked     = regexp.MustCompile(`"hashtags": an array of \d+ to (\d+)`)
	shortAsked    = regexp.MustCompile(`(?m)^  - "([a-z0-9_]+)" is .*?: at most (\d+) characters`)
)

// written returns the text that a model writes for a prompt, in the requested form.
func written(system, prompt string) string {
	answer := post
	for _, f := range forms {
		if strings.Contains(system, f.asked) {
			answer = f.answer
		}
	}
	raw, err := json.MarshalIndent(answer(system, prompt), "", "  ")
	if err != nil {
		panic(err) // Strings can always be encoded.
	}
	return string(raw)
}

// again begins the request to mend an answer.
const again = "You have answered before"

// post is the object of a post: a text in the language of the prompt, about its subject. A text that was refused is
// written anew without the subject, unless the subject is Insisted.
func post(system, prompt string) any {
	var data struct{ Request string }
	// What follows the first object is an answer to mend.
	if json.NewDecoder(strings.NewReader(prompt)).Decode(&data) != nil {
		data.Request = prompt
	}
	topic := strings.Trim(clip(strings.Join(strings.Fields(data.Request), " "), maxTopic), ".!?…,;: ")
	if strings.Contains(system, again) && !strings.Contains(topic, Insisted) {
		topic = ""
	}
	b := brief{language: "en", topic: topic, kind: "post",
		pictures: asked(picturesAsked, system), slides: asked(slidesAsked, system), scenes: asked(scenesAsked, system),
		words: asked(wordsAsked, system), headline: strings.Contains(system, `"headline": the words`),
		hashtags: asked(tagsAsked, system), sources: strings.Contains(system, `"sources": an array`),
		news: strings.Contains(system, "The channel is a news channel")}
	if match := languageAsked.FindStringSubmatch(system); match != nil {
		b.language = match[1]
	}
	for _, match := range shortAsked.FindAllStringSubmatch(system, -1) {
		n, _ := strconv.Atoi(match[2]) // the expression has digits alone there
		b.short = append(b.short, shortVersion{match[1], n})
	}
	for kind, phrase := range map[string]string{"story": "You write stories", "carousel": "You write carousels",
		"music_clip": "new pieces of music"} {
		if strings.Contains(system, phrase) {
			b.kind = kind
		}
	}
	if b.scenes > 0 {
		b.kind = "video"
	}
	return compose(b)
}

const maxTopic = 60

func asked(pattern *regexp.Regexp, system string) int {
	match := pattern.FindStringSubmatch(system)
	if match == nil {
		return 0
	}
	n, err := strconv.Atoi(match[1])
	if err != nil {
		return 0
	}
	return n
}

// answer writes a model's answer. Some models first think aloud, and some put JSON into a
// fence.
func answer(w http.ResponseWriter, model, text, stop, read string) {
	var content []any
	switch {
	case strings.HasPrefix(model, "deepseek."), strings.HasPrefix(model, "openai."):
		content = append(content, map[string]any{
			"reasoningContent": map[string]any{"reasoningText": map[string]string{"text": "The user wants {a post}."}}})
	case strings.HasPrefix(model, "anthropic."):
		text = "```json\n" + text + "\n```"
	case strings.HasPrefix(model, "mistral."):
		text = "Here is the post:\n\n" + text
	}
	content = append(content, map[string]string{"text": text})
	in, out := utf8.RuneCountInString(read)/charactersPerToken+1, utf8.RuneCountInString(text)/charactersPerToken+1
	write(w, http.StatusOK, map[string]any{
		"output":     map[string]any{"message": map[string]any{"role": "assistant", "content": content}},
		"stopReason": stop,
		"usage":      map[string]int{"inputTokens": in, "outputTokens": out, "totalTokens": in + out},
		"metrics":    map[string]int{"latencyMs": 1},
	})
}
