// Package sample has the types of events of the OpenAPI document, with an example of each.
package sample

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/pkg/base/id"
)

// webhook is the entry of a type of event in the document.
type webhook struct {
	Post struct {
		Summary     string `json:"summary"`
		RequestBody struct {
			Content map[string]struct {
				Example event `json:"example"`
			} `json:"content"`
		} `json:"requestBody"`
	} `json:"post"`
}

// event has the members of an event in the order in which the service sends them.
type event struct {
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	CreatedAt  string          `json:"created_at"`
	AccountID  string          `json:"account_id"`
	Mode       string          `json:"mode"`
	APIVersion string          `json:"api_version"`
	Data       json.RawMessage `json:"data"`
}

var webhooks = sync.OnceValue(func() map[string]webhook {
	var document struct {
		Webhooks map[string]struct {
			Ref string `json:"$ref"`
		} `json:"webhooks"`
		Components struct {
			PathItems map[string]webhook `json:"pathItems"`
		} `json:"components"`
	}
	if err := json.Unmarshal(clients.OpenAPIJSON, &document); err != nil {
		panic(fmt.Sprintf("sample: read the document: %v", err)) // A test reads the document.
	}
	all := map[string]webhook{}
	for name, item := range document.Webhooks {
		all[name] = document.Components.PathItems[path.Base(item.Ref)]
	}
	return all
})

// Types returns the types of events, sorted.
func Types() []string { return slices.Sorted(maps.Keys(webhooks())) }

// Summary returns a description of the events of the type.
func Summary(of string) string { return webhooks()[of].Post.Summary }

// Event returns the id and the body of a sample event. Each has a new id, because receivers
// ignore ids that they have processed.
func Event(of string, now time.Time) (eventID string, body []byte, err error) {
	e := webhooks()[of].Post.RequestBody.Content["application/json"].Example
	e.ID, e.CreatedAt = id.New(id.Event, now), now.UTC().Format("2006-01-02T15:04:05.000Z")
	body, err = json.Marshal(e)
	return e.ID, body, err
}
