package training

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// How many items a training learns from: at least, and at most, the newest ones.
const (
	MinSamples = 50
	MaxSamples = 1000
)

// Items are read in pages. The last constant bounds the reads of a factory most of whose items have no texts.
const (
	pageItems = 250
	maxPages  = 8
)

// bytesPerToken is the number of bytes of text that count as a token: few enough for
// languages that models know less well.
const bytesPerToken = 3

// Samples are the texts that a training learns from.
type Samples struct {
	// Lines are the samples as JSON: those that are worth most first, and then the newest item first.
	Lines [][]byte
	// Newest is the id of the newest item.
	Newest string
	// Tokens is the number of tokens of all samples.
	Tokens int
}

// Count is the number of samples.
func (s Samples) Count() int { return len(s.Lines) }

// File returns the samples as a file of lines.
func (s Samples) File() []byte { return append(bytes.Join(s.Lines, []byte("\n")), '\n') }

// first returns the newest samples, up to a number and to a number of tokens.
func (s Samples) first(count, tokens int) Samples {
	bounded := Samples{Newest: s.Newest}
	for _, line := range s.Lines {
		n := tokensOf(line)
		if len(bounded.Lines) == count || bounded.Tokens+n > tokens {
			break
		}
		bounded.Lines, bounded.Tokens = append(bounded.Lines, line), bounded.Tokens+n
	}
	return bounded
}

func tokensOf(line []byte) int { return (len(line) + bytesPerToken - 1) / bytesPerToken }

// Collect reads the samples of a factory: those of its newest items that are worth learning from, up
// to the one with the id newest, which may be empty. It takes a bounded number of reads.
func Collect(ctx context.Context, db *store.DB, o tenant.Owner, factoryID, newest string) (s Samples, err error) {
	q := store.Query{
		Index: store.ByParent, Partition: item.ParentPartition(o, factoryID), To: newest,
		OneOf: map[string][]string{"state": item.WrittenStates()}, Limit: pageItems,
	}
	var all []*item.Record
	for range maxPages {
		page, err := item.List(ctx, db, q)
		if err != nil {
			return s, err
		}
		for _, r := range page.Records {
			if _, _, ok := r.Written(); ok && len(all) < MaxSamples {
				all = append(all, r)
			}
		}
		if q.After = page.Next; q.After == nil || len(all) == MaxSamples {
			break
		}
	}
	if len(all) > 0 {
		s.Newest = all[0].Item.ID
	}
	return s, s.add(chosen(all))
}

// chosen returns the items to learn from: those that people have edited, have published or have liked best. If these
// are too few for a training, the newest others follow them.
func chosen(all []*item.Record) []*item.Record {
	good := item.Lessons(all)
	known := map[string]bool{}
	for _, r := range good {
		known[r.Item.ID] = true
	}
	for _, r := range all {
		if !known[r.Item.ID] && len(good) < MinSamples {
			good = append(good, r)
		}
	}
	return good
}

func (s *Samples) add(all []*item.Record) error {
	for _, r := range all {
		asked, text, _ := r.Written() // those without texts were left out
		line, err := sample(asked, text)
		if err != nil {
			return err
		}
		s.Lines, s.Tokens = append(s.Lines, line), s.Tokens+tokensOf(line)
	}
	return nil
}

// The form of a sample: a conversation of one question and its answer.
type (
	conversation struct {
		SchemaVersion string    `json:"schemaVersion"`
		System        []block   `json:"system"`
		Messages      []message `json:"messages"`
	}
	message struct {
		Role    string  `json:"role"`
		Content []block `json:"content"`
	}
	block struct {
		Text string `json:"text"`
	}
)

// schemaVersion names the form of samples.
const schemaVersion = "bedrock-conversation-2024"

// sample returns one sample: the prompts that generation sends for the item, and the answer that it reads.
func sample(asked provider.Request, text provider.Text) ([]byte, error) {
	answer, err := plainJSON(text)
	if err != nil {
		return nil, err
	}
	system, user := provider.TextPrompt(asked)
	return plainJSON(conversation{
		SchemaVersion: schemaVersion,
		System:        []block{{reserved.Replace(system)}},
		Messages: []message{{"user", []block{{reserved.Replace(user)}}},
			{"assistant", []block{{reserved.Replace(string(answer))}}}},
	})
}

// reserved replaces the words that mark the turns of a conversation: a sample with one of
// them fails the whole training.
var reserved = strings.NewReplacer(
	"User:", "User -", "Bot:", "Bot -", "Assistant:", "Assistant -", "System:", "System -", "<image>", "(image)",
	"<video>", "(video)", "[EOS]", "(EOS)",
)

// plainJSON encodes a value without escapes for HTML: the model would learn them.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
