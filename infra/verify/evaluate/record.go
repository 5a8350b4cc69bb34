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
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
)

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
