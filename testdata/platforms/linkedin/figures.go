package linkedin

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

// figures adds the reading of statistics.
func (f *Fake) figures(api *http.ServeMux) {
	api.HandleFunc("GET /rest/networkSizes/{urn}", f.size)
	api.HandleFunc("GET /rest/organizationalEntityFollowerStatistics", f.followers)
	api.HandleFunc("GET /rest/organizationalEntityShareStatistics", f.shares)
	api.HandleFunc("GET /rest/memberCreatorPostAnalytics", f.analytics)
}

func (f *Fake) actions(w http.ResponseWriter, r *http.Request) {
	post, ok := f.Find(r.PathValue("urn"))
	author := post.Account
	if !ok {
		author = Organization // the earlier posts are its own
	}
	if !f.may(w, r, views(author)) {
		return
	}
	if !ok && !f.old(r.PathValue("urn")) {
		refuse(w, http.StatusNotFound)
		return
	}
	control.JSON(w, http.StatusOK, map[string]any{"likesSummary": map[string]int{"totalLikes": 5},
		"commentsSummary": map[string]int{"aggregatedTotalComments": 2}})
}

func (f *Fake) size(w http.ResponseWriter, r *http.Request) {
	switch {
	case !f.may(w, r, "rw_organization_admin"):
	case r.PathValue("urn") != Organization || r.URL.Query().Get("edgeType") != "COMPANY_FOLLOWED_BY_MEMBER":
		bad(w)
	default:
		control.JSON(w, http.StatusOK, map[string]int{"firstDegreeSize": 2400})
	}
}

// The structures of Rest.li in a query. Those that are escaped are refused, and so are names within them that are not.
var (
	period = regexp.MustCompile(`&timeIntervals=\(timeRange:\(start:(\d+),end:(\d+)\),timeGranularityType:DAY\)$`)
	listed = regexp.MustCompile(`&(shares|ugcPosts)=List\(([^:()]+)\)$`)
	entity = regexp.MustCompile(`^q=entity&entity=\((share|ugc):([^:()]+)\)&queryType=(\w+)&aggregation=TOTAL$`)
)

// days returns the beginnings of the days of a query that are two days old.
func (f *Fake) days(r *http.Request) (all []time.Time, ok bool) {
	found := period.FindStringSubmatch(r.URL.RawQuery)
	if found == nil {
		return nil, false
	}
	start, _ := strconv.ParseInt(found[1], 10, 64)
	end, _ := strconv.ParseInt(found[2], 10, 64)
	at := time.UnixMilli(start).UTC()
	for ; !at.AddDate(0, 0, 2).After(f.Now()) && at.UnixMilli() < end; at = at.AddDate(0, 0, 1) {
		all = append(all, at)
	}
	return all, start < end
}

func ofOrganization(r *http.Request) bool {
	return strings.HasPrefix(r.URL.RawQuery, "q=organizationalEntity&organizationalEntity="+url.QueryEscape(Organization)+
		"&")
}

func dayOf(at time.Time) map[string]int64 {
	return map[string]int64{"start": at.UnixMilli(), "end": at.AddDate(0, 0, 1).UnixMilli()}
}

func (f *Fake) followers(w http.ResponseWriter, r *http.Request) {
	if !f.may(w, r, "rw_organization_admin") {
		return
	}
	days, ok := f.days(r)
	if !ok || !ofOrganization(r) {
		bad(w)
		return
	}
	elements := []any{}
	for _, at := range days {
		elements = append(elements, map[string]any{"timeRange": dayOf(at), "organizationalEntity": Organization,
			"followerGains": map[string]int{"organicFollowerGain": at.Day(), "paidFollowerGain": 1}})
	}
	control.JSON(w, http.StatusOK, map[string]any{"elements": elements})
}

// shares tells the statistics of the organisation by day, or those of one of its posts.
func (f *Fake) shares(w http.ResponseWriter, r *http.Request) {
	if !f.may(w, r, "rw_organization_admin") {
		return
	}
	counts := map[string]any{"impressionCount": 420, "uniqueImpressionsCount": 300, "clickCount": 21, "likeCount": 5,
		"commentCount": 2, "shareCount": 1, "engagement": 0.069}
	elements := []any{}
	if days, ok := f.days(r); ok && ofOrganization(r) {
		for _, at := range days {
			elements = append(elements, map[string]any{"timeRange": dayOf(at), "organizationalEntity": Organization,
				"totalShareStatistics": counts})
		}
		control.JSON(w, http.StatusOK, map[string]any{"elements": elements})
		return
	}
	found := listed.FindStringSubmatch(r.URL.RawQuery)
	if found == nil || !ofOrganization(r) {
		bad(w)
		return
	}
	urn, _ := url.QueryUnescape(found[2])
	post, ok := f.Find(urn)
	ok = f.old(urn) || ok && post.Account == Organization
	if !ok || strings.Contains(urn, ":ugcPost:") != (found[1] == "ugcPosts") {
		bad(w)
		return
	}
	if !f.Unseen {
		elements = append(elements, map[string]any{"organizationalEntity": Organization,
			strings.TrimSuffix(found[1], "s"): urn, "totalShareStatistics": counts})
	}
	control.JSON(w, http.StatusOK, map[string]any{"elements": elements})
}

// analytics tells one statistic of a post of the member.
func (f *Fake) analytics(w http.ResponseWriter, r *http.Request) {
	if !f.may(w, r, "r_member_postAnalytics") {
		return
	}
	found := entity.FindStringSubmatch(r.URL.RawQuery)
	if found == nil {
		bad(w)
		return
	}
	urn, _ := url.QueryUnescape(found[2])
	post, ok := f.Find(urn)
	count, known := map[string]int{"IMPRESSION": 150, "MEMBERS_REACHED": 110, "RESHARE": 3, "REACTION": 5,
		"COMMENT": 2}[found[3]]
	if !ok || !known || strings.Contains(urn, ":ugcPost:") != (found[1] == "ugc") || post.Account != Member {
		bad(w)
		return
	}
	control.JSON(w, http.StatusOK, map[string]any{"elements": []any{map[string]any{"count": count,
		"targetEntity": map[string]string{found[1]: urn}, "metricType": found[3]}}})
}
