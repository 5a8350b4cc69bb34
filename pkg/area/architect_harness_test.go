package area_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/factory"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const chats = "/v1/architect/chats"

// architectFunds are the credits of the account at the beginning.
const architectFunds = 100

// architectWorld is a table with a caller of the operations, a language model for live keys, and
// the worker that ends calls which died.
type architectWorld struct {
	*servicetest.World
	model  *architectModel
	worker *task.Kernel
}

// architectModel is a language model whose answers a test sets.
type architectModel struct {
	// asked are the conversations that it was shown.
	asked []provider.Conversation
	say   func(ctx context.Context, c provider.Conversation) (provider.Turn, error)
}

func (m *architectModel) Converse(ctx context.Context, c provider.Conversation) (provider.Turn, error) {
	m.asked = append(m.asked, c)
	return m.say(ctx, c)
}

// says returns an answer function that returns the turns, one after the other.
func says(turns ...provider.Turn) func(context.Context, provider.Conversation) (provider.Turn, error) {
	return func(context.Context, provider.Conversation) (provider.Turn, error) {
		turn := turns[0]
		turns = turns[1:]
		turn.Model = true
		return turn, nil
	}
}

// architectCalls is a turn that calls a tool.
func architectCalls(tool string, input any) provider.Turn {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return provider.Turn{Calls: []provider.ToolCall{{ID: "call", Name: tool, Input: raw}}}
}

func architectText(s string) provider.Turn { return provider.Turn{Text: s} }

func newArchitectWorld(t *testing.T) *architectWorld {
	t.Helper()
	w := &architectWorld{World: servicetest.New(t),
		model: &architectModel{say: func(context.Context, provider.Conversation) (provider.Turn, error) {
			t.Error("the model was asked")
			return provider.Turn{Model: true, Text: "?"}, nil
		}}}
	offer := catalog.NewOffer("bedrock,fal", "eu-central-1", nil)
	factories := factory.NewService(w.DB, w.Now)
	items := content.NewService(w.DB, factories, nil, offer, w.Now)
	service := architect.NewService(w.DB, items, offer, w.model, w.Now)
	w.Serve(factories, items,
		planarea.NewService(w.DB, factories, offer, w.Now), service)
	settling := httpapi.NewRouter(w.DB, nil, w.Now)
	architect.NewService(w.DB, items, offer, nil, w.Now).Register(settling)
	w.worker = w.Kernel(map[task.Kind]task.Handler{httpapi.ClaimKind: task.Func(httpapi.Claims{Router: settling}.End)})
	w.Commit(func(tx *store.Tx) error {
		return ledger.Open(tx, w.Principal.Account, 0, ledger.DefaultLostLimit, object{})
	})
	w.TopUp(architectFunds)
	w.Faults.Reset()
	return w
}

// spent returns how many credits the account has spent or reserved, and how many of them
// are held.
func (w *architectWorld) spent() (spent, held int64) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] == ledger.Kind && row["x_state"] == "held" {
			held++
		}
	}
	return architectFunds - apitest.Balance(w.T, w.DB, w.Principal.Account), held
}

// factory makes a factory; members are pairs that change the body.
func (w *architectWorld) factory(c *apitest.Caller, members ...any) (f factory.Factory) {
	w.T.Helper()
	b := object{"type": "brand", "name": "Acme", "language": "de", "settings": object{"brand_name": "Acme"}}
	c.Call(http.MethodPost, "/v1/factories", servicetest.Body(b, members...)).Into(w.T, http.StatusCreated, &f)
	w.Clock.Add(time.Millisecond)
	return f
}

// chat begins a chat, and returns its path.
func (w *architectWorld) chat(c *apitest.Caller, members ...any) (path string) {
	w.T.Helper()
	b, of := object{}, architect.Chat{}
	c.Call(http.MethodPost, chats, servicetest.Body(b, members...)).Into(w.T, http.StatusCreated, &of)
	return chats + "/" + of.ID
}

// get reads a chat.
func (w *architectWorld) get(c *apitest.Caller, path string) (of architect.Chat) {
	w.T.Helper()
	c.Call(http.MethodGet, path, nil).Into(w.T, http.StatusOK, &of)
	return of
}

// send sends a message that is answered.
func (w *architectWorld) send(c *apitest.Caller, path, text string) (reply architect.Message) {
	w.T.Helper()
	w.Clock.Add(time.Millisecond)
	c.Call(http.MethodPost, path+"/messages", object{"text": text}).Into(w.T, http.StatusCreated, &reply)
	return reply
}

// drafts lists all drafts, oldest first.
func (w *architectWorld) drafts(c *apitest.Caller, query string) []architect.Draft {
	w.T.Helper()
	return apitest.All[architect.Draft](c, "/v1/architect/drafts?order=asc"+query, 3)
}

// drafted has the sandbox make one draft.
func (w *architectWorld) drafted(path, text string) architect.Draft {
	w.T.Helper()
	reply := w.send(w.Caller, path, text)
	all := w.drafts(w.Caller, "&chat_id="+path[len(chats)+1:])
	if len(reply.DraftIDs) != 1 || len(all) == 0 || all[len(all)-1].ID != reply.DraftIDs[0] {
		w.T.Fatalf("%+v has led to %+v", reply, all)
	}
	return all[len(all)-1]
}

// settle takes the steps of the tasks that end calls.
func (w *architectWorld) settle() {
	w.T.Helper()
	w.Clock.Add(time.Minute)
	for _, row := range storetest.Rows(w.T, w.DB) {
		var of task.Task
		if row["kind"] != task.ItemKind || row["ttl"] != "" {
			continue
		}
		if err := json.Unmarshal([]byte(row["doc"]), &of); err != nil {
			w.T.Fatal(err)
		}
		if of.Kind != httpapi.ClaimKind {
			continue
		}
		if _, err := w.worker.Do(w.T.Context(), of.Message, ""); err != nil {
			w.T.Fatal(err)
		}
	}
}
