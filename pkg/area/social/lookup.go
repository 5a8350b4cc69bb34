package social

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

const (
	// maxLookups bounds the calls for one account in a day (UTC), and maxFound the results that are kept.
	maxLookups, maxFound = 200, 50
	// keepFound and keepListed are how long the results of a search and of a list are kept.
	keepFound, keepListed = 24 * time.Hour, 10 * time.Minute
	// LookupItemKind is the kind of items with the results of a lookup.
	LookupItemKind = "lookup"
)

// lookupKind is the kind of what is looked up.
type lookupKind string

// Schema describes the kind in the OpenAPI document.
func (lookupKind) Schema(huma.Registry) *huma.Schema {
	return httpapi.Enum([]platform.LookupKind{platform.LookupLocation, platform.LookupMember,
		platform.LookupOrganization, platform.LookupPlaylist, platform.LookupBoard})
}

type lookupInput struct {
	// Social account that will publish the post.
	AccountID string `query:"social_account_id" required:"true" example:"soc_01h455vb4pex5vsknk084sn02q"`
	// What is looked up: location on Instagram and Facebook; member and organization on LinkedIn; playlist on YouTube;
	// board, the sections of the board, on Pinterest.
	Kind lookupKind `query:"kind" required:"true" example:"location"`
	// Text to look for. Required for location, member and organization. Others are listed, and filtered by it.
	Text string `query:"q" maxLength:"100" example:"Acme Store"`
	httpapi.SliceInput
}

// LookupResult is something that an option of a post names by its id.
type LookupResult struct {
	// Id on the platform, for the option.
	ID string `json:"id" example:"106078429431815"`
	// Name on the platform.
	Name string `json:"name" example:"Acme Store"`
	// What tells it from others of its name, such as an address. Null: nothing is known.
	Detail *string `json:"detail" example:"1 High Street, London"`
}

// registerLookup adds the operation that finds what options name.
func (s *Service) registerLookup(r *httpapi.Router) {
	httpapi.List(r, httpapi.Op{ID: "listLookups", Method: http.MethodGet, Path: "/v1/publishing/lookups",
		Scope: auth.ContentPublish, Function: "social", Tag: "Publishing",
		Summary: "Find places, people, organisations, playlists and sections",
		Description: "Finds what options of posts name by its id. Results are kept for a day, those of lists for ten " +
			"minutes, so that repeats call no platform. An account makes 200 other calls a day (UTC).",
		Errors: []errs.Code{errs.NotFound, errs.InvalidCursor, errs.InvalidState, errs.ProviderUnavailable,
			errs.RateLimited}, Opens: httpapi.Nothing,
	}, s.lookup)
}

func (s *Service) lookup(ctx context.Context, in *lookupInput) (page httpapi.Page[LookupResult], err error) {
	f, err := s.accounts.Find(ctx, in.AccountID)
	if err != nil {
		return page, err
	}
	r, it := f.Record, f.Item
	adapter, ok := s.platforms.Of(it.Owner.Mode, r.Platform)
	if !ok {
		return page, errs.Invalid("social_account_id", "is on a platform that this service does not have")
	}
	c, wanted := adapter.Capabilities(), strings.TrimSpace(in.Text)
	finder, finds := adapter.(platform.Finder)
	by, has := c.FindsBy(platform.LookupKind(in.Kind))
	switch {
	case !finds || !has:
		return page, errs.Invalid("kind", "is not looked up on %s, which has %s", c.Label, lookups(c))
	case by.Searches && wanted == "":
		return page, errs.Invalid("q", "is required: send the name to look for")
	case r.State != Connected:
		return page, invalidState(r, "The account is not connected. Connect it first.", "connect")
	}
	sought := wanted
	if !by.Searches {
		sought = ""
	}
	found, err := s.results(ctx, it.Owner, r, c, by, sought, finder)
	if err != nil {
		return page, err
	}
	all := []LookupResult{}
	for _, f := range found {
		if by.Searches || strings.Contains(strings.ToLower(f.Name), strings.ToLower(wanted)) {
			one := LookupResult{ID: f.ID, Name: f.Name}
			if f.Detail != "" {
				one.Detail = &f.Detail
			}
			all = append(all, one)
		}
	}
	return httpapi.Slice(ctx, all, nil, in.SliceInput, func(f LookupResult) string { return f.ID })
}

// lookups names the lookups of a platform.
func lookups(c platform.Capabilities) string {
	var all []string
	for _, l := range c.Lookups {
		all = append(all, string(l.Kind))
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// results returns the results that are kept, or those of a call, which it counts before.
func (s *Service) results(ctx context.Context, o tenant.Owner, r *Record, c platform.Capabilities, by platform.Lookup,
	sought string, finder platform.Finder) (found []platform.LookupResult, err error) {
	sum := sha256.Sum256([]byte(strings.ToLower(sought)))
	key := store.IDKey("lookup#" + r.ID + "#" + string(by.Kind) + "#" + hex.EncodeToString(sum[:12]))
	kept, err := s.db.Lookup(ctx, key)
	switch now := s.now(); {
	case err == nil && kept.ExpireAt.After(now):
		return found, kept.Decode(&found)
	case err != nil:
		return nil, err
	}
	if err := s.count(ctx, o, r, c, by); err != nil {
		return nil, err
	}
	param := "kind"
	if by.Searches {
		param = "q"
	}
	found, err = askPlatform(ctx, s, o, r, param, func(ctx context.Context,
		token platform.Account) ([]platform.LookupResult, error) {
		return finder.Lookup(ctx, token, by.Kind, sought)
	})
	if err != nil {
		return nil, err
	}
	found = found[:min(len(found), maxFound)]
	for i, f := range found {
		found[i] = platform.LookupResult{ID: text.ClipLine(f.ID, maxLine), Name: text.ClipLine(f.Name, maxLine),
			Detail: text.ClipLine(f.Detail, maxLine)}
	}
	keep := keepListed
	if by.Searches {
		keep = keepFound
	}
	it := store.Item{Key: key, Kind: LookupItemKind, Owner: o, ExpireAt: s.now().Add(keep)}
	if err := it.Encode(found); err != nil {
		return nil, err
	}
	tx := &store.Tx{}
	tx.CreateExpiring(it, s.now().Unix(), nil)
	// In a conflict, another call has kept the same.
	if err := s.db.Commit(ctx, tx); err != nil && !errors.Is(err, store.ErrConflict) {
		return nil, err
	}
	return found, nil
}

// count takes a call out of the account's calls of a day, and out of the platform's bound of readings.
func (s *Service) count(ctx context.Context, o tenant.Owner, r *Record, c platform.Capabilities,
	by platform.Lookup) error {
	const day = 24 * time.Hour
	if o.Mode != tenant.Live {
		return nil
	}
	now := s.now().UTC()
	end := now.Truncate(day).Add(day)
	full := errs.New(errs.RateLimited, "An account takes %d lookups of a day (UTC). Keep the ids that you have "+
		"found, and repeat the request after the time in Retry-After.", maxLookups).
		With(errs.RateContext{Limit: maxLookups, WindowSeconds: int(day / time.Second)})
	full.RetryAfter = end.Sub(now)
	tx := &store.Tx{}
	tx.CountUntil(store.IDKey("lookups#"+r.ID+"#"+now.Format(time.DateOnly)), 1, maxLookups, end.Add(day), full)
	if by.Units > 0 && c.Reads != nil {
		starts := time.Duration(0)
		if c.Budget != nil {
			starts = c.Budget.Starts
		}
		key, _ := BudgetKey(r.Meter()+".reads", "", day, starts, now, 0)
		tx.CountUntil(key, int64(by.Units), int64(c.Reads.Max), end.Add(2*day), full)
	}
	return s.db.Commit(ctx, tx)
}

// BudgetKey returns the key of the counter of a platform's budget for the given number of lengths before the present
// one, and the part of its time that has passed. The text of names the account whose budget it is, or is empty; starts
// is the time of the day at which the platform's day begins.
func BudgetKey(name, of string, length, starts time.Duration, now time.Time,
	before int) (key store.Key, passed time.Duration) {
	at := now.UTC().Add(-starts)
	begins := at.Truncate(length)
	return store.IDKey("budget#" + name + of + "#" +
		begins.Add(-time.Duration(before)*length).Format("2006-01-02T15")), at.Sub(begins)
}

const (
	// creatorTime bounds a call that a caller waits for, and creatorTries the calls.
	creatorTime, creatorTries = 8 * time.Second, 2
	// creatorPause is the longest time between two calls.
	creatorPause = 500 * time.Millisecond
)

type creatorInput struct {
	// Social account.
	AccountID string `query:"social_account_id" required:"true" example:"soc_01h455vb4pex5vsknk084sn02q"`
}

// CreatorInfo is what a platform allows an account to choose now.
type CreatorInfo struct {
	// Social account.
	SocialAccountID string `json:"social_account_id"`
	// Platform of the account.
	Platform string `json:"platform"`
	// User name on the platform.
	Username string `json:"username"`
	// Display name on the platform: show it to the person who posts.
	Nickname string `json:"nickname"`
	// Whether the account may make another post now.
	CanPost bool `json:"can_post"`
	// Values of the option privacy that the account may choose. There is no default.
	Privacies []string `json:"privacies" nullable:"false"`
	// Whether comments may be permitted.
	Comments bool `json:"comments"`
	// Whether duets may be permitted.
	Duet bool `json:"duet"`
	// Whether stitches may be permitted.
	Stitch bool `json:"stitch"`
	// Longest video that the account may post. Null: not known.
	MaxVideoSeconds *int64 `json:"max_video_seconds"`
}

// registerCreator adds the operation that reads what a creator may choose.
func (s *Service) registerCreator(r *httpapi.Router) {
	httpapi.Read(r, httpapi.Op{ID: "getCreatorInfo", Method: http.MethodGet, Path: "/v1/publishing/creator-info",
		Scope: auth.SocialManage, Function: "social", Tag: "Publishing", Summary: "Get what a creator may choose",
		Description: "Returns what TikTok allows the account to choose for its next post. Read it when you show the " +
			"form for a post, as TikTok requires, and send the choices of the person in `options.tiktok`.",
		Errors: []errs.Code{errs.NotFound, errs.InvalidState, errs.ProviderUnavailable}, Opens: httpapi.Nothing,
	}, s.creator)
}

func (s *Service) creator(ctx context.Context, in *creatorInput) (out CreatorInfo, err error) {
	f, err := s.accounts.Find(ctx, in.AccountID)
	if err != nil {
		return out, err
	}
	r, it := f.Record, f.Item
	adapter, ok := s.platforms.Of(it.Owner.Mode, r.Platform)
	reader, reads := adapter.(platform.CreatorReader)
	switch {
	case !ok || !reads || adapter.Capabilities().RequiredChoices == nil:
		return out, errs.Invalid("social_account_id", "is not on a platform that asks for choices: only TikTok does")
	case r.State != Connected:
		return out, invalidState(r, "The account is not connected. Connect it first.", "connect")
	}
	c, err := askPlatform(ctx, s, it.Owner, r, "social_account_id", reader.CreatorInfo)
	if err != nil {
		return out, err
	}
	out = CreatorInfo{SocialAccountID: r.ID, Platform: r.Platform, Username: text.ClipLine(c.Username, maxLine),
		Nickname: text.ClipLine(c.Nickname, maxLine), CanPost: !c.Full, Privacies: texts(c.Privacies),
		Comments: c.Comments,
		Duet:     c.Duet, Stitch: c.Stitch}
	if c.MaxVideoSeconds > 0 {
		out.MaxVideoSeconds = &c.MaxVideoSeconds
	}
	return out, nil
}

// askPlatform calls the platform for a caller who waits for the answer. The error is the caller's: a call that the
// platform refuses is that of a parameter, unless the account lacks a right.
func askPlatform[T any](ctx context.Context, s *Service, o tenant.Owner, r *Record, param string,
	call func(context.Context, platform.Account) (T, error)) (answer T, err error) {
	ctx, token, err := s.vault.Token(ctx, o, r)
	if err != nil && !platform.Ended(err) {
		return answer, err
	}
	if err == nil {
		answer, err = withRetries(ctx, func(ctx context.Context) (T, error) { return call(ctx, token) })
	}
	switch {
	case err == nil:
		return answer, nil
	case platform.Ended(err):
		return answer, invalidState(r, "The platform refuses the access to the account. Connect it again.", "connect")
	case platform.Refuses(err):
		var e *platform.Error
		errors.As(err, &e)
		why := "The platform refuses the call."
		switch {
		case e.Words != "":
			why += " It says: " + e.Words
		case e.Kind == platform.BadContent:
			why = e.Message // of the adapter, which knows the reason
		}
		if platform.Denied(err) {
			return answer, invalidState(r, why, "connect")
		}
		return answer, errs.Invalid(param, "%s", why)
	}
	unavailable := errs.Wrap(err, errs.ProviderUnavailable, "The platform does not answer at the moment. Try again "+
		"in a few seconds.")
	unavailable.RetryAfter = 5 * time.Second
	return answer, unavailable
}

// withRetries calls the platform. A failure that may pass is followed by one more call.
func withRetries[T any](ctx context.Context, call func(context.Context) (T, error)) (c T, err error) {
	for n := range creatorTries {
		if n > 0 {
			select {
			case <-ctx.Done():
				return c, err
			case <-time.After(creatorPause/2 + rand.N(creatorPause/2)):
			}
		}
		bounded, cancel := context.WithTimeout(ctx, creatorTime)
		c, err = call(bounded)
		cancel()
		if err == nil || !platform.Passes(err) || platform.WaitOf(err) > creatorPause {
			return c, err
		}
	}
	return c, err
}
