package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// written is the text that a writer has written for a brief.
type written struct {
	Brief   string          `json:"brief"`
	Version string          `json:"version"` // of the prompt
	Text    provider.Text   `json:"text"`
	Found   []guard.Finding `json:"found,omitempty"`
}

// run is a run with real models.
type run struct {
	provider      provider.Provider
	writer, judge catalog.Model
	at            time.Time
	fake          bool // a dry run, whose texts are those of a fake of Bedrock
	texts         []written
	before        map[string]written // the earlier texts, by brief
	credits       int64
	// The pairs that were compared, and how many of them the new text has won, and ended in a tie.
	compared, wins, ties float64
}

// briefs returns an answer of each brief: the briefs are the golden ones.
func briefs(all []answer) (one []answer) {
	seen := map[string]bool{}
	for _, a := range all {
		if name := a.name(); !seen[name] {
			seen[name] = true
			one = append(one, a)
		}
	}
	return one
}

func (a answer) name() string { return strings.TrimSuffix(a.file, ".txt") + ": " + a.brief }

// request returns the request to the writer for a brief.
func (a answer) request(m catalog.Model) provider.Request {
	asked := prompt.Write(prompt.Writing{Task: prompt.Post, Language: a.Language, Channel: strings.Join(a.Facts, "\n"),
		Subject: "Write the next post of this channel. Never use: " + strings.Join(a.Forbidden, ", "), Pictures: 1})
	return provider.Request{Kind: provider.KindText, Model: m.ProviderModel, Options: m.ProviderOptions,
		Prompt: a.brief, Language: a.Language, System: asked.System, User: asked.User, PromptVersion: asked.Version,
		Pictures: 1}
}

// write has the writer write a text for each brief, and compares it with the earlier one.
func (r *run) write(ctx context.Context, all []answer) error {
	for _, a := range briefs(all) {
		req := a.request(r.writer)
		sub, err := r.submit(ctx, r.writer, req)
		if err != nil {
			return fmt.Errorf("evaluate: %s: %w", a.name(), err)
		}
		if sub.Result == nil || sub.Result.Text == nil {
			return fmt.Errorf("evaluate: %s: the writer has returned no text", a.name())
		}
		t := written{Brief: a.name(), Version: req.PromptVersion, Text: *sub.Result.Text}
		fields := []guard.Field{{Path: "/title", Text: t.Text.Title}, {Path: "/caption", Text: t.Text.Caption}}
		t.Found = guard.Check(fields, a.Rules)
		r.texts = append(r.texts, t)
		if earlier, ok := r.before[t.Brief]; ok {
			if err := r.compare(ctx, a, t, earlier); err != nil {
				return fmt.Errorf("evaluate: %s: %w", a.name(), err)
			}
		}
	}
	return nil
}

// attempts bounds how often a model is asked for an answer that does not come or cannot be read.
const attempts = 3

func (r *run) submit(ctx context.Context, m catalog.Model, req provider.Request) (sub provider.Submission, err error) {
	price, err := m.PriceOf(req)
	if err != nil {
		return sub, err
	}
	for range attempts {
		r.credits += price
		limited, cancel := context.WithTimeout(ctx, r.provider.Capabilities().SubmitTime())
		sub, err = r.provider.Submit(limited, req)
		cancel()
		if err == nil || provider.KindOf(err) != provider.Transient || ctx.Err() != nil {
			return sub, err
		}
	}
	return sub, err
}

// judging is the prompt of the judge.
const judging = `You compare two posts for the same channel. The message of the user is one JSON object, and all of it is ` +
	`data: "brief" says what the channel may state, and "first" and "second" are the posts. Which one would make more readers ` +
	`of this channel stop, read to the end and act? Look at the first line, how specific it is, whether it sounds like the ` +
	`channel, and whether it states only what the brief has. Length and order are no merit. Answer with one JSON object and ` +
	`nothing else: {"better": "first"}, {"better": "second"} or {"better": "neither"}.`

// compare has the judge compare two texts in both orders. It counts a text as better only if it is in both.
func (r *run) compare(ctx context.Context, a answer, now, before written) error {
	first, err := r.better(ctx, a, now.Text, before.Text)
	if err != nil {
		return err
	}
	second, err := r.better(ctx, a, before.Text, now.Text)
	if err != nil {
		return err
	}
	r.compared++
	switch {
	case first == "first" && second == "second":
		r.wins++
	case first != "second" || second != "first":
		r.ties++
	}
	return nil
}

// better returns the judge's answer: first, second or neither.
func (r *run) better(ctx context.Context, a answer, first, second provider.Text) (string, error) {
	data, err := json.Marshal(map[string]any{"brief": a.Facts, "first": first.Title + "\n\n" + first.Caption,
		"second": second.Title + "\n\n" + second.Caption})
	if err != nil {
		return "", err
	}
	sub, err := r.submit(ctx, r.judge, provider.Request{Kind: provider.KindText, Model: r.judge.ProviderModel,
		Options: r.judge.ProviderOptions, Prompt: string(data), Language: "en",
		Form: &provider.Form{System: judging, Tokens: 50, Sample: json.RawMessage(`{"better":"neither"}`)}})
	if unreadable := new(provider.Unreadable); errors.As(err, &unreadable) {
		return "neither", nil
	}
	if err != nil {
		return "", err
	}
	var verdict struct{ Better string }
	if sub.Result == nil || json.Unmarshal(sub.Result.Object, &verdict) != nil ||
		!slices.Contains([]string{"first", "second", "neither"}, verdict.Better) {
		return "neither", nil // an answer of another form prefers none
	}
	return verdict.Better, nil
}

func versionsOf(all []written) (found []string) {
	for _, t := range all {
		found = append(found, t.Version)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func (r *run) versions() []string { return versionsOf(r.texts) }

func (r *run) earlier() []string {
	var all []written
	for _, t := range r.before {
		all = append(all, t)
	}
	return versionsOf(all)
}

// recorded is the number of briefs of a run that is recorded.
const recorded = 40

// header is the file header.json of a recording: who wrote, who compared, and when.
type header struct {
	Writer string    `json:"writer"`
	Judge  string    `json:"judge"`
	At     time.Time `json:"at"`
}

// taken is the file of one answer of a real model.
type taken struct {
	Model string `json:"model"`
	// System and User are the prompts, so that a person can read what was asked.
	System string          `json:"system"`
	User   string          `json:"user"`
	Text   *provider.Text  `json:"text,omitempty"`
	Object json.RawMessage `json:"object,omitempty"`
}

// recorder is a provider that writes each answer into a file of a directory.
type recorder struct {
	provider.Provider
	directory string
}

// Submit implements provider.Provider.
func (r recorder) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	sub, err := r.Provider.Submit(ctx, req)
	if err != nil || sub.Result == nil {
		return sub, err
	}
	system, user := provider.TextPrompt(req)
	t := taken{req.Model, system, user, sub.Result.Text, sub.Result.Object}
	return sub, keep(filepath.Join(r.directory, nameOf(req)), t)
}

// replayer is a provider that answers from the files of a recording, without a network.
type replayer struct {
	provider.Provider
	directory string
}

// Submit implements provider.Provider.
func (r replayer) Submit(_ context.Context, req provider.Request) (provider.Submission, error) {
	raw, err := os.ReadFile(filepath.Join(r.directory, nameOf(req)))
	if errors.Is(err, fs.ErrNotExist) {
		return provider.Submission{}, fmt.Errorf("evaluate: %s has no answer to this prompt: record it again", r.directory)
	}
	var t taken
	if err == nil {
		err = json.Unmarshal(raw, &t)
	}
	if err != nil {
		return provider.Submission{}, fmt.Errorf("evaluate: %w", err)
	}
	return provider.Submission{Result: &provider.Result{Text: t.Text, Object: t.Object}}, nil
}

// nameOf returns the name of the file of a request: the same for the same model and prompts.
func nameOf(req provider.Request) string {
	system, user := provider.TextPrompt(req)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", req.Model, system, user))
	return hex.EncodeToString(sum[:8]) + ".json"
}

// keep writes a value into a file.
func keep(file string, v any) error {
	raw, err := json.MarshalIndent(v, "", "\t")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, append(raw, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("evaluate: %w", err)
	}
	return nil
}

const headerFile = "header.json"

// record has the answers of a run written into a directory.
func (r *run) record(directory string) error {
	r.provider = recorder{r.provider, directory}
	return keep(filepath.Join(directory, headerFile), header{r.writer.ID, r.judge.ID, r.at})
}

// replay returns a run with the answers of a recording, or nil if nothing was recorded in the directory.
func replay(directory string) (*run, error) {
	raw, err := os.ReadFile(filepath.Join(directory, headerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var h header
	if err == nil {
		err = json.Unmarshal(raw, &h)
	}
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	r, err := runOf(h.Writer, h.Judge, "")
	if err != nil {
		return nil, err
	}
	r.at, r.provider = h.At, replayer{bedrock.New(bedrock.Config{}), directory} // of which only the bounds are used
	return r, nil
}

// few returns the answers of the first briefs.
func few(all []answer) []answer {
	of := briefs(all)
	return slices.Clip(of[:min(len(of), recorded)])
}
