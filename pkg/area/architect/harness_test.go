package architect_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
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

type object = map[string]any

const chats = "/v1/architect/chats"

// funds are the credits of the account at the beginning.
const funds = 100

// world is a table with a caller of the operations, a language model for live keys, and
// the worker that ends calls which died.
type world struct {
	*apitest.Caller
	t      *testing.T
	db     *store.DB
	faults *storetest.Faults
	clock  *apitest.Clock
	model  *model
	worker *task.Kernel
}

// model is a language model whose answers a test sets.
type model struct {
	// asked are the conversations that it was shown.
	asked []provider.Conversation
	say   func(ctx context.Context, c provider.Conversation) (provider.Turn, error)
}

func (m *model) Converse(ctx context.Context, c provider.Conversation) (provider.Turn, error) {
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

// calls is a turn that calls a tool.
func calls(tool string, input any) provider.Turn {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return provider.Turn{Calls: []provider.ToolCall{{ID: "call", Name: tool, Input: raw}}}
}

func text(s string) provider.Turn { return provider.Turn{Text: s} }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, faults: &storetest.Faults{}, clock: apitest.NewClock(),
		model: &model{say: func(context.Context, provider.Conversation) (provider.Turn, error) {
			t.Error("the model was asked")
			return provider.Turn{Model: true, Text: "?"}, nil
		}}}
	w.db = storetest.Open(t, w.clock.Now, w.faults.Attach)
	offer := catalog.NewOffer("bedrock,fal", "eu-central-1", nil)
	factories := factory.NewService(w.db, w.clock.Now)
	items := content.NewService(w.db, factories, nil, offer, w.clock.Now)
	service := architect.NewService(w.db, items, offer, w.model, w.clock.Now)
	w.Caller = apitest.New(t, w.db, &apitest.Log{}, w.clock.Now, factories, items,
		planarea.NewService(w.db, factories, offer, w.clock.Now), service)
	settling := httpapi.NewRouter(w.db, nil, w.clock.Now)
	architect.NewService(w.db, items, offer, nil, w.clock.Now).Register(settling)
	w.worker = task.NewKernel(task.Config{
		DB: w.db, Handlers: map[task.Kind]task.Handler{httpapi.ClaimKind: httpapi.Claims{Router: settling}},
		Now: w.clock.Now, Name: rand.Text, Chance: func() float64 { return 0.5 },
	})
	tx := &store.Tx{}
	if err := ledger.Open(tx, w.Principal.Account, 0, ledger.DefaultLostLimit, object{}); err != nil {
		t.Fatal(err)
	}
	if err := w.db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	apitest.TopUp(w.t, w.db, w.clock.Now(), w.Principal.Account, funds)
	w.faults.Reset()
	return w
}

// spent returns how many credits the account has spent or reserved, and how many of them
// are held.
func (w *world) spent() (spent, held int64) {
	w.t.Helper()
	for _, row := range storetest.Rows(w.t, w.db) {
		if row["kind"] == ledger.Kind && row["x_state"] == "held" {
			held++
		}
	}
	return funds - apitest.Balance(w.t, w.db, w.Principal.Account), held
}

// factory makes a factory; members are pairs that change the body.
func (w *world) factory(c *apitest.Caller, members ...any) (f factory.Factory) {
	w.t.Helper()
	b := object{"type": "brand", "name": "Acme", "language": "de", "settings": object{"brand_name": "Acme"}}
	for i := 0; i+1 < len(members); i += 2 {
		b[members[i].(string)] = members[i+1]
	}
	c.Call(http.MethodPost, "/v1/factories", b).Into(w.t, http.StatusCreated, &f)
	w.clock.Add(time.Millisecond)
	return f
}

// chat begins a chat, and returns its path.
func (w *world) chat(c *apitest.Caller, members ...any) (path string) {
	w.t.Helper()
	b, of := object{}, architect.Chat{}
	for i := 0; i+1 < len(members); i += 2 {
		b[members[i].(string)] = members[i+1]
	}
	c.Call(http.MethodPost, chats, b).Into(w.t, http.StatusCreated, &of)
	return chats + "/" + of.ID
}

// get reads a chat.
func (w *world) get(c *apitest.Caller, path string) (of architect.Chat) {
	w.t.Helper()
	c.Call(http.MethodGet, path, nil).Into(w.t, http.StatusOK, &of)
	return of
}

// send sends a message that is answered.
func (w *world) send(c *apitest.Caller, path, text string) (reply architect.Message) {
	w.t.Helper()
	w.clock.Add(time.Millisecond)
	c.Call(http.MethodPost, path+"/messages", object{"text": text}).Into(w.t, http.StatusCreated, &reply)
	return reply
}

// drafts lists all drafts, oldest first.
func (w *world) drafts(c *apitest.Caller, query string) []architect.Draft {
	w.t.Helper()
	return apitest.All[architect.Draft](c, "/v1/architect/drafts?order=asc"+query, 3)
}

// drafted has the sandbox make one draft.
func (w *world) drafted(path, text string) architect.Draft {
	w.t.Helper()
	reply := w.send(w.Caller, path, text)
	all := w.drafts(w.Caller, "&chat_id="+path[len(chats)+1:])
	if len(reply.DraftIDs) != 1 || len(all) == 0 || all[len(all)-1].ID != reply.DraftIDs[0] {
		w.t.Fatalf("%+v has led to %+v", reply, all)
	}
	return all[len(all)-1]
}

// settle takes the steps of the tasks that end calls.
func (w *world) settle() {
	w.t.Helper()
	w.clock.Add(time.Minute)
	for _, row := range storetest.Rows(w.t, w.db) {
		var of task.Task
		if row["kind"] != task.ItemKind || row["ttl"] != "" {
			continue
		}
		if err := json.Unmarshal([]byte(row["doc"]), &of); err != nil {
			w.t.Fatal(err)
		}
		if of.Kind != httpapi.ClaimKind {
			continue
		}
		if _, err := w.worker.Do(w.t.Context(), of.Message, 1); err != nil {
			w.t.Fatal(err)
		}
	}
}
