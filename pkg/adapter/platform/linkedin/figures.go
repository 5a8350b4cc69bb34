package linkedin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// The rights to read figures. LinkedIn grants them to an application apart from those to publish, so that only
// operators whose application has them request them.
const (
	adminScope  = "rw_organization_admin"
	memberScope = "r_member_postAnalytics"
)

// query reads with a query in the format of Rest.li, whose brackets, colons and commas are not escaped.
func (p *Platform) query(ctx context.Context, a platform.Account, path, query string, out any) error {
	call := p.Call(http.MethodGet, path, a.Token.Access)
	call.URL += "?" + query
	return p.Client.JSON(ctx, call, p.classify(reads, false), out)
}

// The rights to read the reactions and comments of posts, by their older and newer names (Network update social
// actions). The right to publish is none of them.
var (
	memberActions       = []string{commentScope, "r_member_social_feed"}
	organizationActions = []string{"r_organization_social", "r_organization_social_feed"}
)

// may reports whether a token may have one of the scopes: LinkedIn has granted it, or has listed none.
func may(a platform.Account, scopes []string) bool {
	return len(a.Token.Scopes) == 0 || slices.ContainsFunc(scopes,
		func(s string) bool { return slices.Contains(a.Token.Scopes, s) })
}

// Metrics implements platform.Publisher. Each figure that the token may read is read. The error is that of a missing
// right if there is none.
func (p *Platform) Metrics(ctx context.Context, a platform.Account, post platform.PublishedPost) (m platform.Metrics,
	err error) {
	rest, scopes := p.ofMember, memberActions
	if strings.HasPrefix(a.ID, organization) {
		rest, scopes = p.ofOrganization, organizationActions
	}
	refusal := error(deniedError())
	if may(a, scopes) {
		m, refusal = p.actions(ctx, a, post.ID)
		if refusal != nil && !platform.Untold(refusal) {
			return m, refusal
		}
	}
	m, err = rest(ctx, a, post.ID, m)
	switch {
	case err != nil && !platform.Untold(err):
		return platform.Metrics{}, err
	case len(m.Names()) > 0:
		return m, nil
	case refusal == nil:
		return m, err
	}
	return m, refusal
}

// actions reads the reactions to a post and the comments on it.
func (p *Platform) actions(ctx context.Context, a platform.Account, post string) (m platform.Metrics, err error) {
	var actions struct {
		Likes struct {
			Total int64 `json:"totalLikes"`
		} `json:"likesSummary"`
		Comments struct {
			Total int64 `json:"aggregatedTotalComments"`
		} `json:"commentsSummary"`
	}
	err = p.read(ctx, a.Token.Access, "/rest/socialActions/"+url.PathEscape(post), nil, &actions)
	if err != nil {
		return m, err
	}
	m.Likes, m.Comments = platform.Count(actions.Likes.Total), platform.Count(actions.Comments.Total)
	return m, nil
}

// statistics are the counts of posts of an organisation.
type statistics struct {
	Range struct {
		Start int64 `json:"start"`
	} `json:"timeRange"`
	Total struct {
		Impressions *int64 `json:"impressionCount"`
		Unique      *int64 `json:"uniqueImpressionsCount"`
		Likes       *int64 `json:"likeCount"`
		Comments    *int64 `json:"commentCount"`
		Shares      *int64 `json:"shareCount"`
		Clicks      *int64 `json:"clickCount"`
	} `json:"totalShareStatistics"`
}

func (s statistics) metrics() platform.Metrics {
	return platform.Metrics{Impressions: s.Total.Impressions, Reach: s.Total.Unique, Likes: s.Total.Likes,
		Comments: s.Total.Comments, Shares: s.Total.Shares, Clicks: s.Total.Clicks}
}

// ugc begins the id of a post with a video. The ids of others are those of shares.
const ugc = "urn:li:ugcPost:"

// ofOrganization adds the statistics of a post of an organisation. A post that nobody has seen yet has none.
func (p *Platform) ofOrganization(ctx context.Context, a platform.Account, post string,
	m platform.Metrics) (platform.Metrics, error) {
	if !slices.Contains(a.Token.Scopes, adminScope) {
		return m, nil
	}
	list := "shares"
	if strings.HasPrefix(post, ugc) {
		list = "ugcPosts"
	}
	var answer struct {
		Elements []statistics `json:"elements"`
	}
	err := p.query(ctx, a, "/rest/organizationalEntityShareStatistics", "q=organizationalEntity&organizationalEntity="+
		url.QueryEscape(a.ID)+"&"+list+"=List("+url.QueryEscape(post)+")", &answer)
	if err != nil || len(answer.Elements) == 0 {
		return m, err
	}
	return m.Or(answer.Elements[0].metrics()), nil
}

// ofMember adds the statistics of a post of a member that are not known yet, one in a call.
func (p *Platform) ofMember(ctx context.Context, a platform.Account, post string,
	m platform.Metrics) (platform.Metrics, error) {
	if !slices.Contains(a.Token.Scopes, memberScope) {
		return m, nil
	}
	kind := "share"
	if strings.HasPrefix(post, ugc) {
		kind = "ugc"
	}
	var untold error
	for _, one := range []struct {
		name string
		into **int64
	}{{"IMPRESSION", &m.Impressions}, {"MEMBERS_REACHED", &m.Reach}, {"RESHARE", &m.Shares}, {"REACTION", &m.Likes},
		{"COMMENT", &m.Comments}} {
		if *one.into != nil {
			continue
		}
		var answer struct {
			Elements []struct {
				Count *int64 `json:"count"`
			} `json:"elements"`
		}
		err := p.query(ctx, a, "/rest/memberCreatorPostAnalytics", "q=entity&entity=("+kind+":"+url.QueryEscape(post)+
			")&queryType="+one.name+"&aggregation=TOTAL", &answer)
		switch {
		case err != nil && !platform.Untold(err):
			return m, err
		case err != nil:
			untold = err
		case len(answer.Elements) > 0:
			*one.into = answer.Elements[0].Count
		}
	}
	return m, untold
}

// mostDays bounds the days of one call.
const mostDays = 89

// Days implements platform.AccountReader. LinkedIn tells the days of an organisation up to two days ago, and the
// present number of its followers.
func (p *Platform) Days(ctx context.Context, a platform.Account, from time.Time) ([]platform.Day, error) {
	if !strings.HasPrefix(a.ID, organization) || !slices.Contains(a.Token.Scopes, adminScope) {
		return nil, platform.Reject(platform.CodeMissingPermission, "LinkedIn tells figures of organisations only, "+
			"with the right "+adminScope+".")
	}
	days := platform.NewDays(from, p.Client.Now(), mostDays)
	var size struct {
		Followers *int64 `json:"firstDegreeSize"`
	}
	var untold, told error
	known := func(err error) bool {
		if platform.Untold(err) {
			untold = err // the others can be read
		} else if err != nil {
			told = err
		}
		return err == nil
	}
	sized := known(p.read(ctx, a.Token.Access, "/rest/networkSizes/"+url.PathEscape(a.ID),
		url.Values{"edgeType": {"COMPANY_FOLLOWED_BY_MEMBER"}}, &size))
	days.Last().Followers = size.Followers
	query := fmt.Sprintf("q=organizationalEntity&organizationalEntity=%s&timeIntervals=(timeRange:(start:%d,end:%d),"+
		"timeGranularityType:DAY)", url.QueryEscape(a.ID), days[0].Date.UnixMilli(), p.Client.Now().UnixMilli())
	var followers struct {
		Elements []struct {
			statistics
			Gains struct {
				Organic int64 `json:"organicFollowerGain"`
				Paid    int64 `json:"paidFollowerGain"`
			} `json:"followerGains"`
		} `json:"elements"`
	}
	gained := told == nil && known(p.query(ctx, a, "/rest/organizationalEntityFollowerStatistics", query, &followers))
	for _, e := range followers.Elements {
		if day := days.At(time.UnixMilli(e.Range.Start)); day != nil {
			day.Gained = platform.Count(e.Gains.Organic + e.Gains.Paid)
		}
	}
	var shares struct {
		Elements []statistics `json:"elements"`
	}
	shared := told == nil && known(p.query(ctx, a, "/rest/organizationalEntityShareStatistics", query, &shares))
	for _, e := range shares.Elements {
		if day := days.At(time.UnixMilli(e.Range.Start)); day != nil {
			day.Metrics = e.metrics()
		}
	}
	switch {
	case told != nil:
		return nil, told
	case !sized && !gained && !shared:
		return nil, untold
	}
	return days, nil
}

// pastPage is the number of posts on a page of earlier posts.
const pastPage = 50

// PastPosts implements platform.PastReader. It lists the posts of an organisation: LinkedIn lets nobody read those of
// members. Posts that the organisation has only passed on are left out.
func (p *Platform) PastPosts(ctx context.Context, a platform.Account, cursor string) (posts []platform.PastPost,
	next string, err error) {
	if !strings.HasPrefix(a.ID, organization) {
		return nil, "", platform.Unsupported("earlier posts of members")
	}
	query := url.Values{"q": {"author"}, "author": {a.ID}, "count": {strconv.Itoa(pastPage)}, "sortBy": {"CREATED"}}
	if cursor != "" {
		query.Set("start", cursor)
	}
	var answer struct {
		Elements []struct {
			ID         string    `json:"id"`
			Commentary string    `json:"commentary"`
			At         int64     `json:"createdAt"`
			Reshared   *struct{} `json:"reshareContext"`
			Content    struct {
				Media struct {
					ID string `json:"id"`
				} `json:"media"`
				Several *struct{} `json:"multiImage"`
			} `json:"content"`
		} `json:"elements"`
		Paging paging `json:"paging"`
	}
	if err := p.read(ctx, a.Token.Access, "/rest/posts", query, &answer); err != nil {
		return nil, "", err
	}
	for _, e := range answer.Elements {
		if e.Reshared != nil || e.ID == "" || len(e.ID) > most {
			continue
		}
		kind := platform.KindPost
		switch {
		case strings.HasPrefix(e.Content.Media.ID, "urn:li:video:"):
			kind = platform.KindVideo
		case e.Content.Several != nil || strings.HasPrefix(e.Content.Media.ID, "urn:li:document:"):
			kind = platform.KindCarousel
		}
		posts = append(posts, platform.PastPost{ID: e.ID, Kind: kind, Text: textOf(e.Commentary),
			At: time.UnixMilli(e.At).UTC()})
	}
	if start := answer.Paging.Start; answer.Paging.more(start, len(answer.Elements), pastPage) {
		next = strconv.Itoa(start + len(answer.Elements))
	}
	return posts, next, nil
}

// elements are the hashtags, mentions and escaped characters of a commentary.
var elements = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{hashtag\|\\?#\|([^}]*)\}|@\[((?:\\.|[^\]\\])*)\]\([^)]*\)|\\(.)`)
})

// textOf returns the text of a commentary as people read it, which is the inverse of commentary.
func textOf(s string) string {
	return elements().ReplaceAllStringFunc(s, func(found string) string {
		of := elements().FindStringSubmatch(found)
		switch {
		case of[3] != "":
			return of[3]
		case found[0] == '{':
			return "#" + of[1]
		}
		return "@" + textOf(of[2])
	})
}
