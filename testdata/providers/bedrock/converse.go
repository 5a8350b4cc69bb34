package bedrock

import (
	"encoding/json"
	"fmt"
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
		model, ok = check(w, called, "text")
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

// The expressions by which prompts request slides and a script of scenes.
var (
	picturesAsked = regexp.MustCompile(`"pictures": an array of exactly (\d+)`)
	slidesAsked   = regexp.MustCompile(`"slides": an array of exactly (\d+)`)
	scenesAsked   = regexp.MustCompile(`"scenes": an array of exactly (\d+)`)
	wordsAsked    = regexp.MustCompile(`about (\d+) words`)
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

// post is the object of a post.
func post(system, prompt string) any {
	var data struct{ Request string }
	// What follows the first object is an answer to mend.
	if json.NewDecoder(strings.NewReader(prompt)).Decode(&data) != nil {
		data.Request = prompt
	}
	topic := []rune(strings.Join(strings.Fields(data.Request), " "))
	if len(topic) > 60 {
		topic = topic[:60]
	}
	about := strings.TrimSpace(string(topic))
	first := "All about " + about + "."
	if strings.Contains(system, "You have answered before") {
		first = "Once more about " + about + "."
	}
	text := map[string]any{
		"hooks": []string{"Who knows " + about + "?", first, "One more look: " + about}, "hook": 2,
		"title": about, "caption": first + "\n\nWritten by a model that is none.",
		"hashtags": []string{"#rehearsal", "live"}, "style": "Film photography, low sun", "characters": "",
	}
	view := func(n int) map[string]string {
		return map[string]string{"visual": fmt.Sprintf("View %d of %s", n, about),
			"alt_text": fmt.Sprintf("%s, seen from side %d", about, n)}
	}
	if strings.Contains(system, `"sources": an array`) {
		text["sources"] = []int{1}
	}
	if n := asked(picturesAsked, system); n > 0 {
		var pictures []map[string]string
		for i := range n {
			pictures = append(pictures, view(i+1))
		}
		text["pictures"] = pictures
	}
	if n := asked(slidesAsked, system); n > 0 {
		var slides []map[string]string
		for i := range n {
			slide := view(i + 1)
			slide["heading"], slide["body"] = fmt.Sprintf("Point %d: %s", i+1, about), "It is worth a second look."
			slides = append(slides, slide)
		}
		text["slides"] = slides
	}
	if n := asked(scenesAsked, system); n > 0 {
		said := strings.TrimSpace(strings.Repeat("These are five spoken words. ", asked(wordsAsked, system)/5/n+1))
		var scenes []map[string]string
		for i := range n {
			scenes = append(scenes, map[string]string{"text": said, "visual": fmt.Sprintf("View %d of %s", i+1, about),
				"on_screen": about})
		}
		text["scenes"] = scenes
	}
	if strings.Contains(system, `"headline": the words`) {
		text["headline"] = "On the picture: " + about
	}
	if strings.Contains(system, `"sound": the brief`) {
		text["sound"] = "Slow and warm, with a soft piano"
	}
	return text
}

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
