// Package threads publishes on Threads.
//
// As Instagram, it publishes by containers: graph.Containers has them. Start with Platform in threads.go.
package threads

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/pkg/base/format"
)

var _ = format.Define("threads-tag", format.Format{Pattern: `^[^.&\x00-\x1F]+$`, Wanted: "free of . and &", Shortest: 1,
	Longest: 50})

// Name is the platform's id.
const Name = "threads"

// The platform's addresses.
const (
	dialog  = "https://threads.net"
	address = "https://graph.threads.net"
)

// version is the version of the interface.
var version = "/" + platform.Versions[Name].Name

// long is the life of a token, unless Threads states a different one.
const long = 60 * 24 * time.Hour

var (
	image = &platform.File{MIMEs: []string{"image/jpeg", "image/png"}, MaxBytes: 8 << 20, MinRatio: 0.1, MaxRatio: 10}
	video = &platform.File{MIMEs: []string{"video/mp4", "video/quicktime"}, MaxBytes: 1 << 30, MinRatio: 0.01,
		MaxRatio: 10, MaxWidth: 1920, MaxTime: 5 * time.Minute, Form: platform.Meta}

	caption = platform.Text{Max: 500, Unit: platform.EmojiBytes, MaxLinks: 5}
)

// thread is the greatest number of posts in a thread.
const thread = 25

var capabilities = platform.Capabilities{
	Label:   "Threads",
	Connect: platform.ConnectOAuth,
	Scopes: []string{"threads_basic", "threads_content_publish", "threads_manage_replies", "threads_read_replies",
		"threads_manage_insights", "threads_delete"},
	Kinds: map[platform.Kind]platform.Rule{
		platform.KindPost: {Caption: caption, Thread: thread, MaxMedia: 1, Image: image},
		platform.KindVideo: {Caption: caption, Thread: thread, MinMedia: 1, MaxMedia: 1, Video: video,
			Without: []platform.Option{platform.OptionAlt}},
		platform.KindMusicClip: {Caption: caption, Thread: thread, MinMedia: 1, MaxMedia: 1, Video: video,
			Without: []platform.Option{platform.OptionAlt}},
		platform.KindCarousel: {Caption: caption, Thread: thread, MinMedia: 2, MaxMedia: 20, Image: image,
			Video: video},
	},
	Origin: platform.Origin{Reads: []platform.Mark{platform.MarkIPTC, platform.MarkC2PA},
		Source: "https://about.fb.com/news/2024/02/labeling-ai-generated-images-on-facebook-instagram-and-threads/"},
	Hashtags: platform.Hashtags{Max: 30, InCaption: true},
	Alt:      platform.Text{Max: 1000},
	Comment:  caption,
	Comments: platform.Commenting{Reads: true, Replies: true, Hides: true, Text: caption},
	Options: []platform.Option{platform.OptionAlt, platform.OptionFirstComment, platform.OptionThread,
		OptionTopicTag},
	Shape:      Options{},
	Privacies:  []platform.Privacy{platform.Public},
	Metrics:    []string{"views", "likes", "comments", "shares"},
	Past:       platform.Past{Page: graph.PastPage},
	Account:    platform.AccountFigures{Names: []string{"followers", "views"}, History: true},
	DailyPosts: 250,
	Deletes:    true,
	Habits: platform.Habits{MinCaption: 60, MaxCaption: 350, Hashtags: 1, Links: true,
		Hours: []int{8, 12, 19, 16}, WeekendHours: []int{10, 19, 14, 12},
		Action: "to answer, or to share the post",
		Form: "A remark in a conversation: one thought, said as one would say it aloud, open enough to be " +
			"answered."},
	Notes: []string{
		"Threads has one topic for each post: the option topic_tag, or else the first hashtag. Others are plain text.",
		"Threads takes 250 posts of an account in 24 hours, and 100 deletions.",
		"Threads takes posts with up to 5 different links.",
		"Threads has no mark for content that was made by AI: say so in the caption where the law asks for it.",
		"A post cannot be changed after it was published.",
		"A first comment is a reply of the account to its own post.",
	},
}

// OptionTopicTag is the topic of a post.
const OptionTopicTag platform.Option = "topic_tag"

// Options are the options of posts on Threads, as callers send them.
type Options struct {
	platform.AltTextOption
	platform.FirstCommentOption
	platform.ThreadOption
	// Topic of the post. Absent: the first hashtag.
	TopicTag string `json:"topic_tag,omitempty" format:"threads-tag"`
}

var refusals = graph.Refusals{Label: "Threads", Rows: append([]graph.Row{
	{Subcode: 4279013, Outcome: graph.Unclear, As: platform.CodeContentPolicy,
		Source:  "gitroomhq/postiz-app threads.provider.ts",
		Message: "Threads has restricted the account. Its owner has to look at the account there."},
}, graph.ContainerAnswers...)}

// Platform is Threads.
type Platform struct {
	wire.Connector
	wire.NoRevoke
	*graph.Containers
	platform.Chain[graph.Boxes]
	graph.Reader
	graph.Remover
}

// New returns the adapter.
func New(cfg wire.Config) *Platform {
	c := wire.New(Name, cfg)
	g := graph.New(c, c.Base(address)+version, refusals, graph.Number)
	p := &Platform{Connector: wire.Connector{API: g.API, OAuth: wire.OAuth{
		Authorize: c.Base(dialog) + "/oauth/authorize", Token: c.Base(address) + "/oauth/access_token",
		Scopes: capabilities.Scopes, Divider: ",", Classify: refusals.Code,
	}}, Containers: containers(g)}
	p.Reader = graph.Reader{Via: g, Listing: "/conversation", Hiding: "/manage_reply",
		Hide: "hide",
		List: url.Values{"fields": {"id,text,timestamp,username,hide_status,replied_to,is_reply_owned_by_me"}}}
	p.Chain = platform.Chain[graph.Boxes]{Steps: p, ID: Name, Caps: capabilities}
	return p
}

// Connect implements platform.Connector.
func (p *Platform) Connect(ctx context.Context, g platform.Grant) ([]platform.Account, error) {
	short, err := p.Client.Exchange(ctx, p.OAuth, g, nil)
	if err != nil {
		return nil, err
	}
	app, err := p.Client.App(ctx)
	if err != nil {
		return nil, err
	}
	token, err := p.extend(ctx, "/access_token", short.Access, url.Values{"grant_type": {"th_exchange_token"},
		"client_secret": {app.Secret.Reveal()}}, app.Secret)
	if err != nil {
		return nil, err
	}
	var me struct {
		ID       string `json:"id"`
		Username string `json:"username"`
		Name     string `json:"name"`
		Picture  string `json:"threads_profile_picture_url"`
	}
	err = p.Get(ctx, token.Access, "/me", url.Values{"fields": {"id,username,name,threads_profile_picture_url"}}, &me)
	if err != nil {
		return nil, err
	}
	if !graph.Number(me.ID) {
		return nil, platform.Busy().Because(graph.ErrNoID)
	}
	if me.Name == "" {
		me.Name = me.Username
	}
	return []platform.Account{{ID: me.ID, Handle: "@" + me.Username, Name: me.Name, AvatarURL: me.Picture,
		Token: token}}, nil
}

// extend exchanges a token for one of about 60 days.
func (p *Platform) extend(ctx context.Context, path string, token platform.Secret, query url.Values,
	secrets ...platform.Secret) (platform.Token, error) {
	query.Set("access_token", token.Reveal())
	call := wire.Call{Name: path, Method: http.MethodGet, URL: p.Client.Base(address) + path, Query: query,
		Secrets: append(secrets, token)}
	var issued wire.TokenAnswer
	if err := p.Client.JSON(ctx, call, refusals.Token, &issued); err != nil {
		return platform.Token{}, err
	}
	if issued.Access == "" {
		return platform.Token{}, p.Client.GarbledError(call, errors.New("there is no token"))
	}
	if issued.Seconds == 0 {
		issued.Seconds = int64(long.Seconds())
	}
	t := issued.As(p.Client.Now(), platform.Token{Scopes: capabilities.Scopes})
	t.Refresh = t.Access
	return t, nil
}

// Refresh implements platform.Connector. A token that has ended cannot be refreshed.
func (p *Platform) Refresh(ctx context.Context, a platform.Account) (platform.Token, error) {
	return p.extend(ctx, "/refresh_access_token", a.Token.Access, url.Values{"grant_type": {"th_refresh_token"}})
}

// Metrics implements platform.Publisher.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.PublishedPost) (m platform.Metrics,
	err error) {
	if !graph.Number(post.ID) {
		return m, p.Graph.NoPost()
	}
	var insights graph.Insights
	err = p.Graph.OfPost(ctx, a.Token.Access, "/"+post.ID+"/insights",
		url.Values{"metric": {"views,likes,replies,reposts,quotes,shares"}}, &insights)
	if err != nil {
		return m, err
	}
	insights.Lifetime(map[string]**int64{"views": &m.Views, "likes": &m.Likes, "replies": &m.Comments,
		"reposts": &m.Shares, "quotes": &m.Shares, "shares": &m.Shares})
	return m, nil
}

// mostDays bounds the days of one call.
const mostDays = 89

// Days implements platform.AccountReader. Threads tells the views of each day, and the present number of followers.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	views := graph.Query(days, p.Client.Now(), "views")
	views.Del("period") // Threads has no parameter of that name
	for _, query := range []url.Values{views, {"metric": {"followers_count"}}} {
		var insights graph.Insights
		if err := p.Get(ctx, a.Token.Access, "/"+a.ID+"/threads_insights", query, &insights); err != nil {
			return nil, err
		}
		insights.Days(days, map[string]string{"views": "views", "followers_count": "followers"})
	}
	return days, nil
}

// containers returns the protocol by which Threads publishes.
func containers(g graph.API) *graph.Containers {
	return &graph.Containers{
		Graph: g,
		Edge:  "/threads", Limit: "/threads_publishing_limit", State: "status", Detail: "error_message",
		Words:   states,
		Caption: "text", Image: 30 * time.Second, File: file, Describe: describe,
		List: func(w *platform.Work[graph.Boxes]) (edge, text string) {
			if w.PostsMade > 0 {
				return "/replies", w.Text()
			}
			return "/threads", w.Text()
		},
	}
}

// states are the explanations of containers that have failed for good. The others may pass: FAILED_DOWNLOADING_VIDEO,
// FAILED_PROCESSING_AUDIO, FAILED_PROCESSING_VIDEO and UNKNOWN.
var states = []graph.State{
	classify("INVALID_ASPEC", "Threads does not take the ratio of width to "+
		"height."), // ASPEC_RATIO, as Threads spells it
	classify("INVALID_BIT_RATE", "Threads does not take the bit rate of the video."),
	classify("INVALID_DURATION", "Threads does not take the length of the video."),
	classify("INVALID_FRAME_RATE", "Threads does not take the frame rate of the video."),
	classify("INVALID_AUDIO_CHANNEL", "Threads does not take the sound channels of the video."), // and their layout
}

// classify returns the meaning of an explanation of media that Threads does not take.
func classify(word, message string) graph.State {
	return graph.State{Word: word, Row: graph.Row{Outcome: graph.Refused, As: platform.CodeMediaRefused,
		Message: message, Source: graph.BoxStates}}
}

// file returns the container of the i-th file.
func file(p platform.Post, i int) url.Values {
	m := p.Media[i]
	form := url.Values{"media_type": {"IMAGE"}, "image_url": {m.URL}}
	if m.Video() {
		form = url.Values{"media_type": {"VIDEO"}, "video_url": {m.URL}}
	}
	if m.Alt != "" {
		form.Set("alt_text", m.Alt)
	}
	return form
}

// describe adds the text of the next post, and what it answers.
func describe(form url.Values, w *platform.Work[graph.Boxes]) {
	form.Set("text", w.Text())
	switch {
	case w.IsComment():
		form.Set("reply_to_id", w.First.ID)
	case w.PostsMade > 0:
		form.Set("reply_to_id", w.Last.ID)
	default:
		if own, ok := w.Post.Options.Own.(Options); ok && own.TopicTag != "" {
			form.Set("topic_tag", own.TopicTag)
		}
	}
}

// Delete implements platform.Deleter. It deletes all posts of a thread, the last first.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.PlacedPost) error {
	for _, id := range post.Posts() {
		if err := p.Graph.Delete(ctx, a.Token.Access, id); err != nil {
			return err
		}
	}
	return nil
}

// filling is the time between two looks at the container of a reply.
const filling = 5 * time.Second

// Reply implements platform.Replier. A container is filled, which nobody sees. Once Threads has filled it, one call
// publishes it. Until then, the error is Retry, and the next attempt gets the container from r.Kept.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	if !graph.Number(r.To.ID) {
		return "", platform.CommentGone()
	}
	if r.Handle == nil {
		r.Handle = new(platform.Handle)
	}
	box, err := p.box(ctx, a, r)
	if err != nil {
		return "", err
	}
	ready, err := p.Ready(ctx, a, box)
	switch {
	case platform.KindOf(err) == platform.Restart:
		*r.Handle = ""
		return "", platform.Busy().Saying(graph.WordsOf(err)).Because(err) // nothing was published
	case err != nil:
		return "", err
	case !ready:
		return "", platform.Later(platform.CodePlatformUnavailable, "Threads still prepares the "+
			"reply.").WithWait(filling)
	}
	*r.Handle = ""
	id, err := p.Graph.Create(ctx, a.Token.Access, "/"+a.ID+"/threads_publish", url.Values{"creation_id": {box}}, true)
	if platform.KindOf(err) == platform.Restart {
		return "", platform.Busy().Saying(graph.WordsOf(err)).Because(err) // nothing was published
	}
	return id, err
}

// box returns the container of a reply. It makes one if there is none.
func (p *Platform) box(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	if box := string(*r.Handle); graph.Number(box) {
		return box, nil
	}
	gone := refusals
	gone.Missing = platform.CommentGone
	form := url.Values{"media_type": {"TEXT"}, "text": {r.Text}, "reply_to_id": {r.To.ID}}
	made, err := graph.New(p.Client, p.Root, gone, graph.Number).Create(ctx, a.Token.Access, "/"+a.ID+"/threads", form,
		false)
	*r.Handle = platform.Handle(made)
	return made, err
}

var _ platform.Forgetter = (*Platform)(nil)
