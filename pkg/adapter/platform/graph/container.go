package graph

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

const (
	processing = time.Minute      // between two looks at a container that is not filled yet
	filled     = 30 * time.Second // delay of the first look at a video
	listed     = 10 * time.Second // between two looks at a post
	// maxLooks bounds how often the address of a post is read.
	maxLooks = 3
	// again is the time before containers are made again, and maxAgain bounds how often that is done in a
	// publication.
	again    = 10 * time.Second
	maxAgain = 3
)

// The states of a container.
const (
	inProgress = "IN_PROGRESS"
	finished   = "FINISHED"
	failed     = "ERROR"
	expired    = "EXPIRED"
	published  = "PUBLISHED"
	missing    = "" // the platform does not find the container
)

// Boxes is the part of a handle of a publication by containers.
type Boxes struct {
	Children []string `json:"children,omitempty"` // containers of a carousel's media
	Ready    int      `json:"ready,omitempty"`    // number of filled containers among them
	Box      string   `json:"box,omitempty"`      // container of the next post
	For      int      `json:"for,omitempty"`      // number of that post
	Again    int      `json:"again,omitempty"`    // how often containers were made again
}

// renew forgets the containers of the next post, so that they are made again. It reports whether that may be done.
func (s *Boxes) renew() bool {
	if s.Again >= maxAgain {
		return false
	}
	*s = Boxes{Again: s.Again + 1}
	return true
}

// Containers publishes on Instagram and Threads. Media and texts are put into containers, which the platform fills from
// the addresses of the media. A container stays invisible until one call publishes it, and expires after 24 hours. If
// the answer to that call is lost, the container tells the outcome. It implements the steps of a platform.
type Containers struct {
	Graph API
	// Edge is the edge of containers, and Limit the edge with the number of posts that the account may publish.
	Edge, Limit string
	// State is the member with the state of a container, and Detail one that explains it.
	State, Detail string
	// Caption is the member with the text of a post.
	Caption string
	// Image is the delay of the first look at what has no video.
	Image time.Duration
	// ListDelay is how long a published post takes to appear in the list of posts: if it does not, the publication ends
	// without its id. If it is 0, the post is looked for as long as any.
	ListDelay time.Duration
	// Words are the explanations of Detail that are no code.
	Words []State
	// File returns the container of the i-th file.
	File func(p platform.Post, i int) url.Values
	// Describe adds the text of the next post and what else belongs to it to its container.
	Describe func(form url.Values, w *platform.Work[Boxes])
	// List returns the edge that lists the account's newest posts, and the text by which the next post is found there.
	List func(w *platform.Work[Boxes]) (edge, text string)
}

// State is an explanation of a failed container, and the meaning that it has.
type State struct {
	Word string
	Row
}

// Begin implements platform.Steps. It reads how much the account may publish.
func (c *Containers) Begin(ctx context.Context, w *platform.Work[Boxes]) error {
	var limit struct {
		Data []struct {
			Used   int `json:"quota_usage"`
			Config struct {
				Total int `json:"quota_total"`
			} `json:"config"`
		} `json:"data"`
	}
	err := c.Graph.Get(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Limit,
		url.Values{"fields": {"quota_usage,config"}}, &limit)
	if err != nil {
		return err
	}
	if len(limit.Data) > 0 && limit.Data[0].Config.Total > 0 && limit.Data[0].Used >= limit.Data[0].Config.Total {
		return platform.Full(time.Hour)
	}
	return nil
}

// Prepare implements platform.Steps. It makes the next container, or looks at one. A container that is gone after the
// first post of a thread is made again here, because the publication cannot begin again.
func (c *Containers) Prepare(ctx context.Context, w *platform.Work[Boxes]) (ready bool, wait time.Duration, err error) {
	ready, wait, err = c.prepare(ctx, w)
	if platform.KindOf(err) == platform.Restart && w.PostsMade > 0 && w.Own.renew() {
		return false, again, nil
	}
	return ready, wait, err
}

func (c *Containers) prepare(ctx context.Context, w *platform.Work[Boxes]) (ready bool, wait time.Duration, err error) {
	s := &w.Own
	carousel := w.PostsMade == 0 && len(w.Post.Media) > 1
	switch {
	case s.Box != "" && s.For == w.PostsMade+1:
		if state, err := c.state(ctx, w.Account, s.Box); err != nil || state == inProgress {
			return false, processing, err
		}
		return true, 0, nil
	case carousel && len(s.Children) < len(w.Post.Media):
		form := c.File(w.Post, len(s.Children))
		form.Set("is_carousel_item", "true")
		id, err := c.Graph.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Edge, form, false)
		if err != nil {
			return false, 0, err
		}
		if s.Children = append(s.Children, id); len(s.Children) < len(w.Post.Media) {
			return false, 0, nil
		}
		return false, c.wait(w.Post.Media), nil
	case carousel && s.Ready < len(s.Children):
		if state, err := c.state(ctx, w.Account, s.Children[s.Ready]); err != nil || state == inProgress {
			return false, processing, err
		}
		s.Ready++
		return false, 0, nil
	}
	form, files := url.Values{"media_type": {"TEXT"}}, []platform.Media(nil)
	switch {
	case carousel:
		form = url.Values{"media_type": {"CAROUSEL"}, "children": {strings.Join(s.Children, ",")}}
	case w.PostsMade == 0 && len(w.Post.Media) == 1:
		form, files = c.File(w.Post, 0), w.Post.Media
	}
	c.Describe(form, w)
	if s.Box, err = c.Graph.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Edge, form, false); err != nil {
		return false, 0, err
	}
	s.For = w.PostsMade + 1
	return false, c.wait(files), nil
}

// wait returns how long the platform usually takes to fill the containers of files.
func (c *Containers) wait(files []platform.Media) time.Duration {
	for _, m := range files {
		if m.Video() {
			return filled
		}
	}
	return c.Image
}

// containerState is a container as the platform shows it: its state, and what explains it.
type containerState struct{ state, detail string }

// look reads a container.
func (c *Containers) look(ctx context.Context, a platform.Account, container string) (box containerState, err error) {
	gone := c.Graph.Refusals
	gone.Missing = func() *platform.Error { return platform.Again(nil) }
	call := c.Graph.Call(http.MethodGet, "/"+url.PathEscape(container), a.Token.Access)
	call.Query = url.Values{"fields": {c.State + "," + c.Detail}}
	var answer map[string]any
	err = c.Graph.Client.JSON(ctx, call, gone.Classify(false), &answer)
	if platform.KindOf(err) == platform.Restart {
		return containerState{missing, WordsOf(err)}, nil
	}
	if err != nil {
		return box, err
	}
	box.state, _ = answer[c.State].(string)
	box.detail, _ = answer[c.Detail].(string)
	switch box.state {
	case inProgress, finished, published, failed, expired:
		return box, nil
	}
	return box, platform.Busy()
}

// state returns the state of a container: IN_PROGRESS, FINISHED or PUBLISHED.
func (c *Containers) state(ctx context.Context, a platform.Account, container string) (string, error) {
	box, err := c.look(ctx, a, container)
	if err == nil {
		err = c.fault(box)
	}
	return box.state, err
}

// named finds the code in the explanation of a failed container, as in "Error: Media upload has failed with error code
// 2207026".
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d{5,7}\b`) })

// fault returns the error of a container that cannot be published, or nil. A container that has failed for a reason
// that is not known is made again.
func (c *Containers) fault(box containerState) error {
	switch box.state {
	case expired, missing:
		return platform.Again(nil).Saying(box.detail)
	case failed:
	default:
		return nil
	}
	row := Row{Outcome: Renew}
	if code, err := strconv.Atoi(named().FindString(box.detail)); err == nil {
		if known := c.Graph.Refusals.Find(code, code); known != nil {
			row = *known
		}
	}
	for _, state := range c.Words {
		if strings.Contains(box.detail, state.Word) {
			row = state.Row
		}
	}
	switch { // a container that has failed stays so
	case row.Outcome == Passing, row.Outcome == Wait, row.Outcome == Unclear && row.As == platform.CodeMediaRefused:
		row = Row{Outcome: Renew}
	case row.Outcome == Unclear:
		row.Outcome = Refused
	}
	return c.Graph.Refusals.as(row, false, wire.Answer{}).Saying(box.detail)
}

// Ready reports whether a container can be published. The error is Unknown if it is published already, and Restart if
// it is gone.
func (c *Containers) Ready(ctx context.Context, a platform.Account, container string) (bool, error) {
	state, err := c.state(ctx, a, container)
	if err == nil && state == published {
		err = platform.Lost(nil)
	}
	return state == finished, err
}

// Make implements platform.Steps. It publishes the container.
func (c *Containers) Make(ctx context.Context, w *platform.Work[Boxes]) (platform.Ref, error) {
	if w.Own.For != w.PostsMade+1 || w.Own.Box == "" {
		return platform.Ref{}, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	id, err := c.Graph.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Edge+"_publish",
		url.Values{"creation_id": {w.Own.Box}}, true)
	if platform.KindOf(err) == platform.Restart {
		err = c.refilled(ctx, w, err)
	}
	return platform.Ref{ID: id}, err
}

// refilled returns the error after the platform has not found the container that it was to publish, although it was
// filled. Nothing was posted if the container says so: it is made again then.
func (c *Containers) refilled(ctx context.Context, w *platform.Work[Boxes], refused error) error {
	box, err := c.look(ctx, w.Account, w.Own.Box)
	switch {
	case err != nil, box.state == published, box.state == inProgress:
		return platform.Lost(refused)
	case box.state == expired && w.PostsMade == 0:
		return refused // the publication begins again
	case !w.Own.renew():
		return platform.Reject(platform.CodeMediaExpired, c.Graph.Refusals.Label+" loses again and again what was "+
			"prepared for the post.").Saying(WordsOf(refused)).Because(refused)
	}
	w.Wait = again
	return platform.ErrMore
}

// WordsOf returns the platform's own words in an error.
func WordsOf(err error) string {
	var e *platform.Error
	if errors.As(err, &e) {
		return e.Words
	}
	return ""
}

// Find implements platform.Steps. A published container does not name its post, which is found among the newest ones.
func (c *Containers) Find(ctx context.Context, w *platform.Work[Boxes]) (platform.Ref, platform.Stage, error) {
	box, err := c.look(ctx, w.Account, w.Own.Box)
	if err != nil {
		return platform.Ref{}, "", err
	}
	switch box.state {
	case failed, expired: // nothing was posted
		err := c.fault(box)
		if platform.KindOf(err) == platform.Restart && w.PostsMade > 0 && w.Own.renew() {
			w.Wait = again
			return platform.Ref{}, platform.StageCheck, nil
		}
		return platform.Ref{}, platform.StageReconcile, err
	case inProgress, finished:
		// While the container is not published, the platform may still be working on the call.
		return platform.Ref{}, platform.StageReconcile, nil
	}
	edge, want := c.List(w)
	var list struct {
		Data []map[string]any `json:"data"`
	}
	if err := c.Graph.Get(ctx, w.Account.Token.Access, "/"+w.Account.ID+edge,
		url.Values{"fields": {"id," + c.Caption + ",timestamp"}, "limit": {"25"}}, &list); err != nil {
		return platform.Ref{}, "", err
	}
	for _, post := range list.Data {
		id, _ := post["id"].(string)
		text, _ := post[c.Caption].(string)
		stamp, _ := post["timestamp"].(string)
		at, err := time.Parse(TimeLayout, stamp)
		if err == nil && Number(id) && platform.Same(text, want) && !at.Before(w.SentAt.Add(-time.Minute)) {
			return platform.Ref{ID: id}, platform.StageDone, nil
		}
	}
	if box.state == published && c.ListDelay > 0 && c.Graph.Client.Now().Sub(w.SentAt) >= c.ListDelay {
		return platform.Ref{}, platform.StageDone, nil
	}
	return platform.Ref{}, platform.StageReconcile, nil
}

// End implements platform.Ender. It reads the address of the post, which is visible even if this fails.
func (c *Containers) End(ctx context.Context, w *platform.Work[Boxes]) (ended bool, wait time.Duration, err error) {
	if w.First.URL != "" {
		return true, 0, nil
	}
	var media struct {
		Permalink string `json:"permalink"`
	}
	err = c.Graph.Get(ctx, w.Account.Token.Access, "/"+url.PathEscape(w.First.ID), url.Values{"fields": {"permalink"}},
		&media)
	if err != nil && ctx.Err() != nil {
		return false, 0, err
	}
	w.First.URL = media.Permalink
	return err == nil || platform.KindOf(err) != platform.Retry || w.Looks >= maxLooks, listed, nil
}

// Outcome is what an answer means for the call that got it.
type Outcome int

// The outcomes. Those before Refused say that the call may succeed later.
const (
	// Passing is a failure of the platform. The call is made again. If it posts, the post is looked for, because Meta
	// has published posts in spite of such answers.
	Passing Outcome = iota + 1
	// Wait means that something is not ready. The same call is made again, and has had no effect.
	Wait
	// Limited means that the platform takes no more calls for a while.
	Limited
	// Spent means that the account may not do more for a while.
	Spent
	// Renew means that what was prepared is gone and nothing was posted. It is prepared again.
	Renew
	// Setup means that the operator's application is wrong. The account stays valid.
	Setup
	// Refused means that the platform refuses the content.
	Refused
	// Unclear means that the platform refuses the call, and that the refusal may be wrong. A call that posts nothing is
	// made again some times before it is final. After a call that posts, the post is looked for.
	Unclear
	// Ended means that the token or the right to publish has ended.
	Ended
)

var outcomeNames = map[Outcome]string{Passing: "again, or look for the post", Wait: "again", Limited: "again later",
	Spent: "wait for the quota", Renew: "prepare again", Setup: "again, and tell the operator", Refused: "refused",
	Unclear: "again, or look for the post, then refused", Ended: "connect again"}

// String returns what happens, in words.
func (o Outcome) String() string { return outcomeNames[o] }

// Row is an answer of the Graph API and its meaning.
type Row struct {
	// Code is the code of the answer, or the first one of the codes up to To. It is 0 if the subcode says all.
	Code, To int
	// Subcode is the subcode, or 0 for any that no other row has.
	Subcode int
	// Bare reports whether the row has answers without a subcode only.
	Bare    bool
	Outcome Outcome
	// As is the code that callers see, where the outcome does not say it.
	As      platform.Code
	Message string // where the outcome has no sentence of its own; %s stands for the name of the platform
	After   time.Duration
	// Missing reports whether the answer says that a node does not exist.
	Missing bool
	Source  string
}

// proves reports whether a row ends an account because of its token.
func (w *Row) proves() bool { return w.Outcome == Ended && w.As == platform.CodeNeedsReconnect }

// has reports how exactly a row matches an answer: 0 if it does not.
func (w *Row) has(code, subcode int) int {
	within := code >= w.Code && code <= max(w.Code, w.To)
	switch {
	case w.Subcode != 0 && w.Subcode == subcode && w.Code != 0 && within:
		return 3
	case w.Subcode != 0 && w.Subcode == subcode && w.Code == 0:
		return 2
	case w.Subcode == 0 && within && (!w.Bare || subcode == 0):
		return 1
	}
	return 0
}

// Find returns the row of an answer, or nil if there is none.
func (r Refusals) Find(code, subcode int) (found *Row) {
	best := 0
	for _, rows := range [][]Row{r.Rows, Common} {
		for i := range rows {
			if n := rows[i].has(code, subcode); n > best {
				found, best = &rows[i], n
			}
		}
	}
	return found
}

// Ending returns the rows that end an account.
func (r Refusals) Ending() (all []Row) {
	for _, rows := range [][]Row{r.Rows, Common} {
		for _, row := range rows {
			if row.Outcome == Ended {
				all = append(all, row)
			}
		}
	}
	return all
}

// as returns the error of an answer with a meaning.
func (r Refusals) as(row Row, posts bool, a wire.Answer) *platform.Error {
	say := func(e *platform.Error) *platform.Error {
		if row.Message != "" {
			e.Message = strings.ReplaceAll(row.Message, "%s", r.Label)
		}
		if row.As != "" {
			e.Code = row.As
		}
		return e
	}
	switch row.Outcome {
	case Wait:
		return say(platform.Busy().WithWait(row.After))
	case Limited:
		return say(platform.Limited(regained(a)))
	case Spent:
		return say(platform.Full(row.After))
	case Renew:
		return say(platform.Again(nil))
	case Setup:
		return say(platform.Later(platform.CodeNotConfigured, "The platform refuses the service's application."))
	case Refused:
		return say(platform.Reject(platform.CodeContentRefused, r.Label+" refuses the post."))
	case Unclear:
		return say(platform.Odd())
	case Ended:
		if row.As == platform.CodeMissingPermission {
			return say(platform.NeedsReconnect(platform.CodeMissingPermission, "Connect the account again and allow "+
				"all that the page of "+r.owner()+" asks for."))
		}
		return say(platform.Disconnected())
	}
	if posts {
		return platform.Lost(nil)
	}
	return say(platform.Busy())
}

const (
	// limited is the time to wait after too many calls if the platform names none.
	limited = 5 * time.Minute
	// window is the time over which Meta counts calls.
	window = time.Hour
	// mostLimited bounds the time that the platform names.
	mostLimited = 24 * time.Hour
)

// regained returns how long the platform takes no calls: the time in its headers, or else what its use of the window
// says. It returns 0 if the header Retry-After has a date, which the client reads.
func regained(a wire.Answer) time.Duration {
	var most time.Duration
	var cases map[string][]struct {
		Minutes float64 `json:"estimated_time_to_regain_access"`
	}
	if json.Unmarshal([]byte(a.Header.Get("X-Business-Use-Case-Usage")), &cases) == nil {
		for _, uses := range cases {
			for _, use := range uses {
				most = max(most, time.Duration(min(use.Minutes, mostLimited.Minutes())*float64(time.Minute)))
			}
		}
	}
	after := a.Header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(after, 10, 64); err == nil {
		most = max(most, time.Duration(min(seconds, int64(mostLimited/time.Second)))*time.Second)
	} else if after != "" && most == 0 {
		return 0
	}
	if most > 0 {
		return most
	}
	for _, name := range []string{"X-App-Usage", "X-Page-Usage"} {
		var use struct { // in percent
			Calls float64 `json:"call_count"`
			Time  float64 `json:"total_time"`
			CPU   float64 `json:"total_cputime"`
		}
		if json.Unmarshal([]byte(a.Header.Get(name)), &use) == nil {
			if top := max(use.Calls, use.Time, use.CPU); top > 100 {
				most = max(most, time.Duration(float64(window)*(top-100)/top))
			}
		}
	}
	return max(most, limited)
}

// The sources of the rows: pages of Meta and public reports.
const (
	MetaErrors  = "https://developers.facebook.com/docs/graph-api/guides/error-handling"
	MetaLimits  = "https://developers.facebook.com/docs/graph-api/overview/rate-limiting"
	VideoErrors = "https://developers.facebook.com/documentation/video-api/reference/error-codes"
	BoxErrors   = "https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/error-codes"
	BoxStates   = "https://developers.facebook.com/docs/threads/troubleshooting"
)

const (
	signIn = "The owner of the account has to sign in at Facebook and follow its instructions. Connect the account " +
		"again afterwards."
	absent = "%s does not find the account, or something that the post names, or does not show it to the service."
)

// Common are the answers of all platforms of Meta.
var Common = []Row{
	{Code: 1, Outcome: Passing, Source: MetaErrors},
	{Code: 2, Outcome: Passing, Source: MetaErrors},
	{Code: -1, Outcome: Passing, Source: BoxErrors},
	{Code: -2, Outcome: Passing, Source: BoxErrors},
	{Code: 4, Outcome: Limited, Source: MetaErrors},
	{Code: 17, Outcome: Limited, Source: MetaErrors},
	{Code: 32, Outcome: Limited, Source: MetaLimits},
	{Code: 341, Outcome: Limited, Source: MetaErrors},
	{Code: 613, Outcome: Limited, Source: MetaLimits},
	{Code: 80000, To: 80014, Outcome: Limited, Source: MetaLimits}, // by product: 80001 pages, 80002 Instagram
	{Code: 9, Outcome: Spent, After: time.Hour, Source: BoxErrors},
	{Code: 368, Outcome: Spent, After: time.Hour, Source: MetaErrors,
		Message: "%s has blocked posts of the account for a while."},
	{Subcode: 1390008, Outcome: Spent, After: time.Hour, Source: "gitroomhq/postiz-app facebook.provider.ts",
		Message: "%s has blocked posts of the account for a while, because they follow each other too fast."},
	{Code: 368, Subcode: 1346003, Outcome: Refused, As: platform.CodeContentPolicy,
		Source:  "fbsamples/original-coast-clothing #67",
		Message: "%s refuses content that others have reported as abusive."},

	// The token has ended, or the owner has to act before it is accepted again.
	{Code: 102, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors},
	{Code: 190, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors},
	{Code: 190, Subcode: 458, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors,
		Message: "The owner of the account has removed the service there. Connect the account again."},
	{Code: 190, Subcode: 459, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors, Message: signIn},
	{Code: 190, Subcode: 460, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors,
		Message: "The password of the account's owner has changed. Connect the account again."},
	{Code: 190, Subcode: 464, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors, Message: signIn},
	{Code: 190, Subcode: 490, Outcome: Ended, As: platform.CodeNeedsReconnect, Message: signIn,
		Source: "gitroomhq/postiz-app facebook.provider.ts"},
	{Code: 190, Subcode: 492, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: MetaErrors,
		Message: "The login has no role on the page any more. Connect the account again with a login that has one."},
	// The right to publish was not granted or was taken away. With a subcode, the codes may concern one post.
	{Code: 10, Bare: true, Outcome: Ended, As: platform.CodeMissingPermission, Source: MetaErrors},
	{Code: 200, To: 299, Bare: true, Outcome: Ended, As: platform.CodeMissingPermission, Source: MetaErrors},
	// Photos and albums that are not visible concern one post.
	{Code: 220, To: 221, Bare: true, Outcome: Unclear, Source: MetaErrors, Message: absent},

	// A node does not exist or is not shown. That says nothing about the token.
	{Code: 100, Subcode: 33, Outcome: Unclear, Missing: true, Source: "gitroomhq/postiz-app facebook.provider.ts",
		Message: absent},
	{Code: 803, Outcome: Unclear, Missing: true, Source: MetaErrors, Message: absent},
	{Code: 100, Bare: true, Outcome: Unclear, Source: MetaErrors, Message: "%s does not take a part of the post."},
	{Code: 506, Outcome: Unclear, Source: MetaErrors,
		Message: "%s takes no two equal posts one after the other."},
	{Code: 1609005, Outcome: Unclear, Source: MetaErrors, Message: "%s could not read the link of the post."},
	{Subcode: 1609005, Outcome: Unclear, Source: MetaErrors, Message: "%s could not read the link of the post."},

	// The operator's application is wrong.
	{Code: 3, Outcome: Unclear, As: platform.CodeNotConfigured, Source: MetaErrors,
		Message: "%s does not give the service's application this function."},
	{Code: 101, Outcome: Setup, Source: MetaErrors},
	{Code: 104, Outcome: Setup, Source: MetaErrors},
}

// ContainerAnswers are the answers of the platforms that publish by containers.
var ContainerAnswers = []Row{
	{Subcode: 2207001, Outcome: Passing, Source: BoxErrors},
	{Subcode: 2207003, Outcome: Passing, Source: BoxErrors},
	{Subcode: 2207032, Outcome: Passing, Source: BoxErrors},
	{Subcode: 2207027, Outcome: Wait, After: 30 * time.Second, Source: BoxErrors,
		Message: "%s still processes the media."},
	{Subcode: 2207006, Outcome: Renew, Missing: true, Source: BoxErrors},
	{Subcode: 2207008, Outcome: Renew, Missing: true, Source: BoxErrors},
	{Subcode: 2207020, Outcome: Renew, Source: BoxErrors},
	{Subcode: 2207053, Outcome: Renew, Source: BoxErrors},
	{Subcode: 2207077, Outcome: Renew, Source: "gitroomhq/postiz-app instagram.provider.ts"},
	{Subcode: 2207082, Outcome: Renew, Source: "gitroomhq/postiz-app #1992"},
	{Subcode: 2207085, Outcome: Renew, Source: "gitroomhq/postiz-app #1992"},
	{Code: 24, Subcode: 4279009, Outcome: Renew, Missing: true, Source: "gitroomhq/postiz-app #2047, " +
		"trypostit/trypost #280, nopara73/LongevityWorldCup #815"},
	{Subcode: 2207042, Outcome: Spent, After: time.Hour, Source: BoxErrors},
	// The platform could not read a file, which may be the fault of either side.
	{Code: 9004, Outcome: Unclear, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "%s could not read a file of the post."},
	{Subcode: 2207052, Outcome: Unclear, As: platform.CodeMediaRefused,
		Source:  BoxErrors + ", gitroomhq/postiz-app #1900",
		Message: "%s could not read a file of the post."},
	// The post is taken for spam. Meta has published posts in spite of this.
	{Subcode: 2207051, Outcome: Unclear, As: platform.CodeContentPolicy, Source: BoxErrors,
		Message: "%s takes the post for spam."},
	{Code: 25, Subcode: 2207050, Outcome: Ended, As: platform.CodeNeedsReconnect, Source: BoxErrors,
		Message: "%s has restricted the account. Its owner has to sign in there and follow the instructions. Connect " +
			"the account again afterwards."},
	media(2207004, "The image is too large for %s."),
	media(2207005, "%s does not take the format of the image."),
	media(2207009, "%s does not take the ratio of width to height."),
	media(2207023, "%s does not take the kind of media."),
	media(2207026, "%s does not take the format of the video."),
	media(2207057, "The frame of the cover is not in the video."),
	{Subcode: 2207010, Outcome: Refused, Source: BoxErrors, Message: "The caption is too long for %s."},
	{Subcode: 2207028, Outcome: Refused, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "%s takes 2 to 10 media in a carousel."},
	{Subcode: 2207035, Outcome: Refused, As: platform.CodeInvalidOption, Source: BoxErrors,
		Message: "%s takes no place of a tag in a video."},
	{Subcode: 2207036, Outcome: Refused, As: platform.CodeInvalidOption, Source: BoxErrors,
		Message: "%s wants the place of a tag in a picture."},
	{Subcode: 2207037, Outcome: Refused, As: platform.CodeInvalidOption, Source: BoxErrors,
		Message: "%s does not take the tags of the post."},
	{Subcode: 2207040, Outcome: Refused, Source: BoxErrors, Message: "The post has more tags than %s takes."},
	{Subcode: 2207067, Outcome: Refused, As: platform.CodeUnsupported, Source: BoxErrors,
		Message: "%s takes a video as a Reel only."},
	{Subcode: 2207018, Outcome: Refused, As: platform.CodeInvalidOption,
		Source:  "gitroomhq/postiz-app instagram.provider.ts",
		Message: "%s does not take one of the collaborators."},
	{Subcode: 2207081, Outcome: Refused, As: platform.CodeInvalidOption,
		Source:  "gitroomhq/postiz-app instagram.provider.ts",
		Message: "The account may not publish trial Reels."},
	media(36001, "%s does not take the format of the image."),
	media(36003, "%s does not take the ratio of width to height."),
	{Code: 352, Outcome: Refused, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "%s does not take the format of the video."},
	{Code: 36000, Outcome: Refused, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "The image is too large for %s."},
	{Code: 36001, Outcome: Refused, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "%s does not take the format of the image."},
	{Code: 36003, Outcome: Refused, As: platform.CodeMediaRefused, Source: BoxErrors,
		Message: "%s does not take the ratio of width to height."},
	{Code: 36004, Outcome: Refused, Source: BoxErrors, Message: "The caption is too long for %s."},
}

// media returns the row of media that are refused.
func media(subcode int, message string) Row {
	return Row{Subcode: subcode, Outcome: Refused, As: platform.CodeMediaRefused, Message: message, Source: BoxErrors}
}

// PastPage is the number of posts on a page of earlier posts.
const PastPage = 25

// TimeLayout is the format of times.
const TimeLayout = "2006-01-02T15:04:05-0700"

// PastPosts implements platform.PastReader. Stories that have ended and posts that the account has only passed on are
// left out.
func (c *Containers) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	query := url.Values{"fields": {"id," + c.Caption + ",media_type,timestamp"}, "limit": {strconv.Itoa(PastPage)}}
	if cursor != "" {
		query.Set("after", cursor)
	}
	var answer struct {
		Data []struct {
			ID      string `json:"id"`
			Caption string `json:"caption"`
			Text    string `json:"text"`
			Type    string `json:"media_type"`
			At      string `json:"timestamp"`
		} `json:"data"`
		Paging Paging `json:"paging"`
	}
	if err := c.Graph.Get(ctx, a.Token.Access, "/"+a.ID+c.Edge, query, &answer); err != nil {
		return nil, "", err
	}
	for _, m := range answer.Data {
		at, err := time.Parse(TimeLayout, m.At)
		if err != nil || m.Type == "REPOST_FACADE" {
			continue
		}
		kind := platform.KindPost
		switch m.Type {
		case "VIDEO":
			kind = platform.KindVideo
		case "CAROUSEL_ALBUM":
			kind = platform.KindCarousel
		}
		posts = append(posts, platform.PastPost{ID: m.ID, Kind: kind, Text: cmp.Or(m.Caption, m.Text), At: at.UTC()})
	}
	return posts, answer.Paging.Cursor(), nil
}

// signedFor is the age up to which a signed request is taken. Meta signs it when it sends it.
const signedFor = time.Hour

// Removed reads the signed request of Meta's callbacks: the one for removed rights, and the one for data to delete. It
// is the signature and the JSON text that is signed, both in base64url, with a dot in between.
func Removed(app platform.App, h platform.Hook, now time.Time) (r platform.Removal, err error) {
	form, err := url.ParseQuery(string(h.Body))
	if err != nil {
		return r, platform.ErrForged
	}
	signature, signed, _ := strings.Cut(form.Get("signed_request"), ".")
	sum, bad := unpadded(signature)
	text, bad2 := unpadded(signed)
	mac := hmac.New(sha256.New, []byte(app.Secret.Reveal()))
	mac.Write([]byte(signed))
	if bad != nil || bad2 != nil || app.Secret == "" || !hmac.Equal(sum, mac.Sum(nil)) {
		return r, platform.ErrForged
	}
	var body struct {
		Algorithm string      `json:"algorithm"`
		IssuedAt  int64       `json:"issued_at"`
		User      json.Number `json:"user_id"` // a text, or a number
	}
	if json.Unmarshal(text, &body) != nil || !strings.EqualFold(body.Algorithm, "HMAC-SHA256") ||
		!Number(body.User.String()) {
		return r, platform.ErrForged
	}
	r = platform.Removal{Person: body.User.String(), At: time.Unix(body.IssuedAt, 0)}
	if !platform.Recent(r.At, now, signedFor) {
		return platform.Removal{}, platform.ErrForged
	}
	return r, nil
}

// Remover reads both callbacks of Meta. Adapters embed it.
type Remover struct{}

// Removed implements platform.Remover.
func (Remover) Removed(app platform.App, h platform.Hook, now time.Time) (platform.Removal, error) {
	return Removed(app, h, now)
}

// Forgotten implements platform.Forgetter.
func (Remover) Forgotten(app platform.App, h platform.Hook, now time.Time) (platform.Removal, error) {
	return Removed(app, h, now)
}

// unpadded decodes base64url, with padding or without.
func unpadded(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

// Grantor returns Meta's id of the person who has granted a token, which is another one for each application. It is
// empty if Meta does not tell it: the accounts then end by the refusal of their next call, not by a callback.
func Grantor(ctx context.Context, g API, token platform.Secret) string {
	var me struct {
		ID string `json:"id"`
	}
	if err := g.Get(ctx, token, "/me", url.Values{"fields": {"id"}}, &me); err != nil || !Number(me.ID) {
		return ""
	}
	return me.ID
}
