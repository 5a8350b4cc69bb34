// Package bitrix24 is the adapter of Bitrix24. An account is connected by OAuth, or by the address of an incoming
// webhook, which is its own secret. Start with Adapter.
package bitrix24

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Name is the id of the CRM.
const Name = "bitrix24"

// events are the events that webhooks report, by the objects that they name.
var events = map[string]crm.Object{
	"ONCRMDEALADD": crm.DealObject, "ONCRMDEALUPDATE": crm.DealObject, "ONCRMPRODUCTADD": crm.ProductObject,
	"ONCRMPRODUCTUPDATE": crm.ProductObject, "ONCRMPRODUCTDELETE": crm.ProductObject,
}

// Adapter implements crm.Adapter.
type Adapter struct{ client *wire.Client }

var _ crm.Adapter = (*Adapter)(nil)

// New returns the adapter. It makes no call.
func New(c wire.Config) *Adapter { return &Adapter{wire.New(Name, c)} }

// Name implements crm.Adapter.
func (*Adapter) Name() string { return Name }

// Facts implements crm.Adapter.
func (*Adapter) Facts() crm.Facts { return crm.Facts{Label: "Bitrix24", Portal: true, Address: true} }

// host returns the address of a portal.
func (a *Adapter) host(domain string) string { return a.client.Base("https://" + domain) }

// Authorization implements crm.Connector. The callback's address is that of the application.
func (a *Adapter) Authorization(ctx context.Context, in crm.Authorization) (string, error) {
	app, err := a.client.App(ctx)
	if err != nil {
		return "", err
	}
	return a.host(in.Portal) + "/oauth/authorize/?" + url.Values{"client_id": {app.ID},
		"redirect_uri": {in.RedirectURL}, "state": {in.State}}.Encode(), nil
}

// token calls the authorization server, which all portals share.
func (a *Adapter) token(ctx context.Context, q url.Values, secret platform.Secret) (issued tokenAnswer, err error) {
	app, err := a.client.App(ctx)
	if err != nil {
		return issued, err
	}
	q.Set("client_id", app.ID)
	q.Set("client_secret", app.Secret.Reveal())
	call := wire.Call{Name: "token", Method: http.MethodPost,
		URL: a.client.Base("https://oauth.bitrix24.tech") + "/oauth/token/", Form: q,
		Secrets: []platform.Secret{app.Secret, secret}}
	if err := crm.JSON(ctx, a.client, call, classifyToken, &issued); err != nil {
		return issued, err
	}
	if issued.Access == "" || issued.Member == "" {
		return issued, a.client.GarbledError(call, errors.New("there is no token or portal"))
	}
	return issued, nil
}

// tokenAnswer is an answer of the authorization server.
type tokenAnswer struct {
	wire.TokenAnswer
	Member string `json:"member_id"`
	// Endpoint is the address of the API of the portal that the token is for.
	Endpoint string `json:"client_endpoint"`
}

// of reports whether the token is for the portal with a host. It is sent to no other one.
func (i tokenAnswer) of(host string) bool {
	u, err := url.Parse(i.Endpoint)
	return err == nil && u.Scheme == "https" && u.Port() == "" && host != "" && strings.EqualFold(u.Hostname(), host)
}

// classifyToken classifies the refusals of the authorization server.
func classifyToken(a wire.Answer) *platform.Error {
	if a.Status == http.StatusTooManyRequests || a.Status >= 500 {
		return nil
	}
	return wire.ClassifyOAuth(a)
}

// Connect implements crm.Connector.
func (a *Adapter) Connect(ctx context.Context, g crm.Grant) (out crm.Account, err error) {
	out.Proof = g.Proof
	if g.Address != "" {
		u, err := url.Parse(g.Address.Reveal())
		if err != nil {
			return out, platform.Disconnected()
		}
		out.Address, out.Domain, out.ID = g.Address, u.Hostname(), u.Hostname()
	} else {
		// The portal is that of the authorization: the callback cannot name a different one. Whoever began the
		// authorization chose it, so that the answer with the token has to name it, too.
		out.Domain = g.Query.Get("portal")
		if g.Code == "" || out.Domain == "" {
			return out, platform.Disconnected()
		}
		issued, err := a.token(ctx, url.Values{"grant_type": {"authorization_code"}, "code": {g.Code}},
			platform.Secret(g.Code))
		if err != nil {
			return out, err
		}
		if !issued.of(out.Domain) {
			return out, platform.Disconnected()
		}
		out.Token, out.ID = issued.As(a.client.Now(), platform.Token{}), issued.Member
	}
	out.Name = out.Domain
	var currencies struct {
		Result []struct {
			Code string `json:"CURRENCY"`
			Base string `json:"BASE"`
		} `json:"result"`
	}
	if err := a.call(ctx, out, "crm.currency.list", nil, &currencies); err != nil {
		return out, err
	}
	for _, c := range currencies.Result {
		if c.Base == "Y" {
			out.Currency = c.Code
		}
	}
	return out, nil
}

// Refresh implements crm.Connector. Each refresh token is valid once.
func (a *Adapter) Refresh(ctx context.Context, acc crm.Account) (platform.Token, error) {
	if acc.Address != "" {
		return acc.Token, nil // it does not end
	}
	issued, err := a.token(ctx, url.Values{"grant_type": {"refresh_token"},
		"refresh_token": {acc.Token.Refresh.Reveal()}}, acc.Token.Refresh)
	if err != nil {
		return platform.Token{}, err
	}
	if issued.Member != acc.ID || issued.Endpoint != "" && !issued.of(acc.Domain) {
		return platform.Token{}, platform.Disconnected()
	}
	return issued.As(a.client.Now(), acc.Token), nil
}

// Revoke implements crm.Connector. Bitrix24 has no call that ends a token: its administrators remove the application
// or the webhook.
func (*Adapter) Revoke(context.Context, crm.Account) error { return nil }

// Subscribe implements crm.Connector. An incoming webhook cannot subscribe: its owner adds an outgoing webhook.
func (a *Adapter) Subscribe(ctx context.Context, acc crm.Account, address string) error {
	if acc.Address != "" {
		return nil
	}
	var bound struct {
		Result []struct {
			Event   string `json:"event"`
			Handler string `json:"handler"`
		} `json:"result"`
	}
	if err := a.call(ctx, acc, "event.get", nil, &bound); err != nil {
		return err
	}
	missing := map[string]bool{}
	for event := range events {
		missing[event] = true
	}
	for _, b := range bound.Result {
		if b.Handler == address {
			delete(missing, b.Event)
		}
	}
	for event := range missing {
		if err := a.call(ctx, acc, "event.bind", map[string]any{"event": event, "handler": address}, nil); err != nil {
			return err
		}
	}
	return nil
}

// Unsubscribe implements crm.Connector.
func (a *Adapter) Unsubscribe(ctx context.Context, acc crm.Account, address string) error {
	if acc.Address != "" {
		return nil
	}
	for event := range events {
		if err := a.call(ctx, acc, "event.unbind", map[string]any{"event": event, "handler": address},
			nil); err != nil {
			return err
		}
	}
	return nil
}

// Hints implements crm.Connector. The webhook's address is its secret. Its application_token is compared if it is
// known.
func (*Adapter) Hints(_ context.Context, acc crm.Account, h crm.Hook) ([]crm.Hint, error) {
	form, err := url.ParseQuery(string(h.Body))
	if err != nil {
		return nil, errors.Join(crm.ErrForged, err)
	}
	if acc.Proof != "" && subtle.ConstantTimeCompare([]byte(form.Get("auth[application_token]")),
		[]byte(acc.Proof.Reveal())) != 1 {
		return nil, crm.ErrForged
	}
	object, ok := events[strings.ToUpper(form.Get("event"))]
	if id := form.Get("data[FIELDS][ID]"); ok && id != "" {
		return []crm.Hint{{Object: object, ID: id}}, nil
	}
	return nil, nil
}

// call calls a method of a portal's API.
func (a *Adapter) call(ctx context.Context, acc crm.Account, method string, body map[string]any, out any) error {
	return a.make(ctx, acc, wire.Call{Name: method}, method, body, out)
}

func (a *Adapter) make(ctx context.Context, acc crm.Account, call wire.Call, method string, body map[string]any,
	out any) error {
	if body == nil {
		body = map[string]any{}
	}
	base := strings.TrimSuffix(acc.Address.Reveal(), "/")
	if base == "" {
		base = a.host(acc.Domain) + "/rest"
		body["auth"] = acc.Token.Access.Reveal()
	}
	call.Method, call.URL, call.JSON = http.MethodPost, base+"/"+method+".json", body
	call.Secrets = []platform.Secret{acc.Address, acc.Token.Access}
	return crm.JSON(ctx, a.client, call, classify, out)
}

// operationPause is the wait after a method has used its time of a window of ten minutes.
const operationPause = time.Minute

// classify classifies the errors of the API, which have a code.
func classify(a wire.Answer) *platform.Error {
	var body struct {
		Code        crm.Number `json:"error"`
		Description string     `json:"error_description"`
	}
	if a.OK() {
		return nil
	}
	if json.Unmarshal(a.Body, &body) != nil {
		return crm.Classify(a)
	}
	switch strings.ToLower(string(body.Code)) {
	case "expired_token":
		return platform.TokenExpired()
	case "invalid_token", "no_auth_found", "invalid_credentials", "wrong_auth_type", "application_not_found":
		return platform.Disconnected()
	case "query_limit_exceeded":
		return platform.Limited(time.Second)
	case "operation_time_limit":
		return platform.Limited(operationPause)
	case "insufficient_scope", "access_denied":
		return platform.Reject(platform.CodeMissingPermission, "The CRM does not permit this to the connected user.")
	case "not_found", "error_not_found":
		return crm.NotFound()
	}
	if a.Status == http.StatusBadRequest && strings.EqualFold(strings.TrimSuffix(body.Description, "."), "not found") {
		return crm.NotFound()
	}
	return crm.Classify(a)
}

// dealType is the type of deals among the CRM's entities.
const dealType = 2

// list is an answer with a page of at most 50 objects. Next is the number of the next object, or absent.
type list[T any] struct {
	Result []T        `json:"result"`
	Next   crm.Number `json:"next"`
}

// from sets the first object of a page.
func from(cursor string, body map[string]any) map[string]any {
	if n, err := strconv.Atoi(cursor); err == nil {
		body["start"] = n
	}
	return body
}

// Pipelines implements crm.Objects.
func (a *Adapter) Pipelines(ctx context.Context, acc crm.Account) (all []crm.Pipeline, err error) {
	var categories struct {
		Result struct {
			Categories []struct {
				ID   crm.Number `json:"id"`
				Name string     `json:"name"`
			} `json:"categories"`
		} `json:"result"`
	}
	if err := a.call(ctx, acc, "crm.category.list", map[string]any{"entityTypeId": dealType}, &categories); err != nil {
		return nil, err
	}
	for _, c := range categories.Result.Categories {
		p := crm.Pipeline{ID: string(c.ID), Name: c.Name}
		stages := "DEAL_STAGE"
		if c.ID != "0" {
			stages += "_" + string(c.ID)
		}
		var found list[struct {
			ID   string `json:"STATUS_ID"`
			Name string `json:"NAME"`
		}]
		if err := a.call(ctx, acc, "crm.status.list", map[string]any{"order": map[string]string{"SORT": "ASC"},
			"filter": map[string]string{"ENTITY_ID": stages}}, &found); err != nil {
			return nil, err
		}
		for _, s := range found.Result {
			p.Stages = append(p.Stages, crm.Stage(s))
		}
		all = append(all, p)
	}
	return all, nil
}

type product struct {
	ID          crm.Number `json:"ID"`
	Code        string     `json:"CODE"`
	Name        string     `json:"NAME"`
	Description string     `json:"DESCRIPTION"`
	Active      string     `json:"ACTIVE"`
	Price       crm.Number `json:"PRICE"`
	Currency    string     `json:"CURRENCY_ID"`
}

func (p product) product(currency string) crm.Product {
	out := crm.Product{ID: string(p.ID), SKU: p.Code, Name: crm.Plain(p.Name),
		Description: crm.Plain(p.Description), Price: string(p.Price), Currency: p.Currency, Archived: p.Active == "N"}
	out.Currency = cmp.Or(out.Currency, currency)
	return out
}

// productFields are the members of products that are read.
var productFields = []string{"ID", "CODE", "NAME", "DESCRIPTION", "ACTIVE", "PRICE", "CURRENCY_ID"}

// Products implements crm.Objects.
func (a *Adapter) Products(ctx context.Context, acc crm.Account,
	cursor string) (page crm.Page[crm.Product], err error) {
	var found list[product]
	if err := a.call(ctx, acc, "crm.product.list", from(cursor, map[string]any{"select": productFields,
		"order": map[string]string{"ID": "ASC"}}), &found); err != nil {
		return page, err
	}
	for _, p := range found.Result {
		page.Items = append(page.Items, p.product(acc.Currency))
	}
	page.Next = string(found.Next)
	return page, nil
}

// Product implements crm.Objects.
func (a *Adapter) Product(ctx context.Context, acc crm.Account, productID string) (crm.Product, error) {
	var found struct {
		Result product `json:"result"`
	}
	err := a.call(ctx, acc, "crm.product.get", map[string]any{"id": productID}, &found)
	return found.Result.product(acc.Currency), err
}

// Existing implements crm.Objects.
func (a *Adapter) Existing(ctx context.Context, acc crm.Account, productIDs []string) (all []string, err error) {
	var found list[product]
	err = a.call(ctx, acc, "crm.product.list", map[string]any{"select": []string{"ID"},
		"filter": map[string]any{"ID": productIDs}}, &found)
	for _, p := range found.Result {
		all = append(all, string(p.ID))
	}
	return all, err
}

type deal struct {
	ID       crm.Number `json:"ID"`
	Title    string     `json:"TITLE"`
	Comments string     `json:"COMMENTS"`
	Stage    string     `json:"STAGE_ID"`
	Category crm.Number `json:"CATEGORY_ID"`
	Amount   crm.Number `json:"OPPORTUNITY"`
	Currency string     `json:"CURRENCY_ID"`
	Changed  time.Time  `json:"DATE_MODIFY"`
	Moved    time.Time  `json:"MOVED_TIME"`
}

func (d deal) deal(currency string) crm.Deal {
	out := crm.Deal{ID: string(d.ID), Name: d.Title, Description: crm.Plain(d.Comments), Pipeline: string(d.Category),
		Stage: d.Stage, Amount: string(d.Amount), Currency: d.Currency, ChangedAt: d.Changed, EnteredAt: d.Moved}
	out.Currency = cmp.Or(out.Currency, currency)
	return out
}

var dealFields = []string{"ID", "TITLE", "COMMENTS", "STAGE_ID", "CATEGORY_ID", "OPPORTUNITY", "CURRENCY_ID",
	"DATE_MODIFY", "MOVED_TIME"}

// Deals implements crm.Objects.
func (a *Adapter) Deals(ctx context.Context, acc crm.Account, since time.Time,
	cursor string) (page crm.Page[crm.Deal], err error) {
	var found list[deal]
	if err := a.call(ctx, acc, "crm.deal.list", from(cursor, map[string]any{"select": dealFields,
		"filter": map[string]string{">=DATE_MODIFY": since.UTC().Format(time.RFC3339)},
		"order":  map[string]string{"ID": "ASC"}}), &found); err != nil {
		return page, err
	}
	for _, d := range found.Result {
		page.Items = append(page.Items, d.deal(acc.Currency))
	}
	page.Next = string(found.Next)
	return page, nil
}

// Deal implements crm.Objects.
func (a *Adapter) Deal(ctx context.Context, acc crm.Account, dealID string) (crm.Deal, error) {
	var found struct {
		Result deal `json:"result"`
	}
	err := a.call(ctx, acc, "crm.deal.get", map[string]any{"id": dealID}, &found)
	return found.Result.deal(acc.Currency), err
}

// HasNote implements crm.Objects.
func (a *Adapter) HasNote(ctx context.Context, acc crm.Account, dealID, text string) (bool, error) {
	for cursor := "0"; cursor != ""; {
		var found list[struct {
			Comment string `json:"COMMENT"`
		}]
		if err := a.call(ctx, acc, "crm.timeline.comment.list", from(cursor, map[string]any{
			"select": []string{"ID", "COMMENT"},
			"filter": map[string]string{"ENTITY_ID": dealID, "ENTITY_TYPE": "deal"}}), &found); err != nil {
			return false, err
		}
		for _, n := range found.Result {
			if strings.Contains(n.Comment, text) {
				return true, nil
			}
		}
		cursor = string(found.Next)
	}
	return false, nil
}

// AddNote implements crm.Objects.
func (a *Adapter) AddNote(ctx context.Context, acc crm.Account, dealID, text string) error {
	const method = "crm.timeline.comment.add"
	// A comment has BBCode.
	text = strings.NewReplacer("[", "(", "]", ")").Replace(text)
	return a.make(ctx, acc, wire.Call{Name: method, Posts: true}, method, map[string]any{
		"fields": map[string]string{"ENTITY_ID": dealID, "ENTITY_TYPE": "deal", "COMMENT": text}}, nil)
}
