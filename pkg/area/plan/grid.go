package plan

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/law"
	record "github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/craft/business"
	"github.com/content-automation/api/pkg/craft/calendar"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/ask"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// cell is what the grid of a plan gives a slot beside its time.
type cell struct {
	typeOnly, pillar, goal int // the pillar is -1 in a plan without pillars
	// offers reports that the slot presents a product.
	offers bool
}

// The weights of the grid: of the shares, of the shares of pairs, of chance, and of a repetition of the last slot.
const (
	weighShare, weighPair, weighChance, weighAgain = 3, 2, 0.6, 0.4
)

// axis is a property of slots whose values have shares of them.
type axis struct {
	shares []float64 // of the values, which add up to 1 in all
	limits []int     // slots of each value, or nil: the shares alone bound it
	counts []int
}

// newAxis returns the axis of values with relative shares, over n slots. An exact one gives each value its share of
// the slots, rounded by the largest remainder.
func newAxis(relative []int, n int, exact bool) *axis {
	total := 0
	for _, r := range relative {
		total += r
	}
	a := &axis{counts: make([]int, len(relative))}
	order, given := make([]int, len(relative)), 0
	for v, r := range relative {
		a.shares = append(a.shares, float64(r)/float64(total))
		a.limits = append(a.limits, r*n/total)
		given += r * n / total
		order[v] = v
	}
	slices.SortStableFunc(order, func(v, w int) int { return relative[w]*n%total - relative[v]*n%total })
	for _, v := range order[:n-given] {
		a.limits[v]++
	}
	if !exact {
		a.limits = nil
	}
	return a
}

// ahead is how far a value is ahead of its share after i slots.
func (a *axis) ahead(v, i int) float64 { return float64(a.counts[v]) - a.shares[v]*float64(i) }

// open reports whether a value may be taken once more.
func (a *axis) open(v int) bool { return a.limits == nil || a.counts[v] < a.limits[v] }

// seeded returns a source of chance that depends on texts alone.
func seeded(texts ...string) *rand.Rand {
	h := sha256.New()
	for _, text := range texts {
		h.Write([]byte(text + "\x00"))
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:])))
}

// seed is what the order of a plan follows from: what its caller asked for, so that an estimate, the plan and the same
// plan of another day of work agree.
func (p *Plan) seed() string {
	return fmt.Sprint(p.StartsOn, p.Days, p.PostsPerDay, p.Timezone, p.Brief, p.Pillars)
}

// even returns n equal shares, for values without shares of their own.
func even(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = 1
	}
	return all
}

// grid returns the cells of a plan's slots. Content types, pillars, goals and slots with a product have their shares,
// and so has each pair of their values: no pillar is tied to one type or goal. No two neighbours have the same pillar.
// The order is by chance that the plan fixes. Plans of the same size have the same number of each content
// type, so that they have the same price.
func (p *Plan) grid(n int) []cell {
	pillars := []int{}
	for _, pillar := range p.Pillars {
		pillars = append(pillars, max(pillar.Share, 1))
	}
	if len(pillars) == 0 {
		pillars = []int{1}
	}
	axes := [4]*axis{newAxis(even(len(p.ContentTypes)), n, true), newAxis(pillars, n, false),
		newAxis(even(numberOfGoals), n, true), newAxis([]int{100 - p.ProductShare, p.ProductShare}, n, true)}
	pairs, chance := map[[4]int]int{}, seeded(p.seed())
	cells, last := make([]cell, n), [4]int{-1, -1, -1, -1}
	for i := range cells {
		best, least := [4]int{}, 0.0
		found := false
		each(axes, func(at [4]int) {
			if at[1] == last[1] && len(pillars) > 1 {
				return
			}
			if cost := costOf(axes, pairs, at, last, i) + weighChance*chance.Float64(); !found || cost < least {
				best, least, found = at, cost, true
			}
		})
		for a, v := range best {
			axes[a].counts[v]++
			for b := range a {
				pairs[[4]int{b, best[b], a, v}]++
			}
		}
		cells[i], last = cell{best[0], best[1], best[2], best[3] == 1}, best
		if len(p.Pillars) == 0 {
			cells[i].pillar = -1
		}
	}
	return cells
}

// each calls f with all combinations of values that may be taken.
func each(axes [4]*axis, f func(at [4]int)) {
	for t := range axes[0].shares {
		for l := range axes[1].shares {
			for g := range axes[2].shares {
				for o := range axes[3].shares {
					at := [4]int{t, l, g, o}
					if axes[0].open(t) && axes[1].open(l) && axes[2].open(g) && axes[3].open(o) {
						f(at)
					}
				}
			}
		}
	}
}

// costOf is how much a combination for slot i takes the grid away from the shares of values and pairs.
func costOf(axes [4]*axis, pairs map[[4]int]int, at, last [4]int, i int) (cost float64) {
	for a, v := range at {
		cost += weighShare * axes[a].ahead(v, i)
		if v == last[a] && len(axes[a].shares) > 1 && a != 3 {
			cost += weighAgain
		}
		for b := range a {
			share := axes[a].shares[v] * axes[b].shares[at[b]]
			cost += weighPair * (float64(pairs[[4]int{b, at[b], a, v}]) - share*float64(i))
		}
	}
	return cost
}

// numberOfGoals is the number of goals in each language.
const numberOfGoals = 4

// goals are what items are to lead to, in turn, by language.
var goals = map[string][numberOfGoals]string{
	"ar": {"يجيب القراء في تعليق", "يحفظه القراء أو يرسلونه إلى غيرهم",
		"يتابع القراء القناة", "يفتح القراء الملف الشخصي أو الرابط"},
	"de": {"Leser antworten in einem Kommentar", "Leser speichern es oder schicken es weiter",
		"Leser folgen dem Kanal", "Leser öffnen das Profil oder den Link"},
	"en": {"readers answer in a comment", "readers save it or send it on",
		"readers follow the channel", "readers open the profile or the link"},
	"es": {"los lectores responden con un comentario", "los lectores lo guardan o lo comparten",
		"los lectores siguen el canal", "los lectores abren el perfil o el enlace"},
	"fr": {"les lecteurs répondent par un commentaire", "les lecteurs l'enregistrent ou le partagent",
		"les lecteurs s'abonnent à la chaîne", "les lecteurs ouvrent le profil ou le lien"},
	"he": {"הקוראים עונים בתגובה", "הקוראים שומרים או מעבירים הלאה",
		"הקוראים עוקבים אחרי הערוץ", "הקוראים פותחים את הפרופיל או את הקישור"},
	"hi": {"पाठक टिप्पणी में उत्तर दें", "पाठक इसे सहेजें या आगे भेजें",
		"पाठक चैनल को फ़ॉलो करें", "पाठक प्रोफ़ाइल या लिंक खोलें"},
	"it": {"i lettori rispondono con un commento", "i lettori lo salvano o lo inoltrano",
		"i lettori seguono il canale", "i lettori aprono il profilo o il link"},
	"ja": {"読者がコメントで答える", "読者が保存または共有する",
		"読者がチャンネルをフォローする", "読者がプロフィールかリンクを開く"},
	"ko": {"독자가 댓글로 답한다", "독자가 저장하거나 공유한다",
		"독자가 채널을 팔로우한다", "독자가 프로필이나 링크를 연다"},
	"nl": {"lezers antwoorden in een reactie", "lezers bewaren het of sturen het door",
		"lezers volgen het kanaal", "lezers openen het profiel of de link"},
	"pl": {"czytelnicy odpowiadają w komentarzu", "czytelnicy zapisują to lub wysyłają dalej",
		"czytelnicy obserwują kanał", "czytelnicy otwierają profil lub link"},
	"pt": {"os leitores respondem com um comentário", "os leitores guardam ou partilham",
		"os leitores seguem o canal", "os leitores abrem o perfil ou o link"},
	"ru": {"читатели отвечают в комментарии", "читатели сохраняют или пересылают",
		"читатели подписываются на канал", "читатели открывают профиль или ссылку"},
	"th": {"ผู้อ่านตอบในความคิดเห็น", "ผู้อ่านบันทึกหรือส่งต่อ",
		"ผู้อ่านติดตามช่อง", "ผู้อ่านเปิดโปรไฟล์หรือลิงก์"},
	"tr": {"okurlar yorumda yanıt verir", "okurlar kaydeder ya da paylaşır",
		"okurlar kanalı takip eder", "okurlar profili ya da bağlantıyı açar"},
	"uk": {"читачі відповідають у коментарі", "читачі зберігають або пересилають",
		"читачі підписуються на канал", "читачі відкривають профіль або посилання"},
	"vi": {"người đọc trả lời bằng bình luận", "người đọc lưu lại hoặc chia sẻ",
		"người đọc theo dõi kênh", "người đọc mở trang cá nhân hoặc liên kết"},
	"zh": {"读者在评论中回答", "读者收藏或转发",
		"读者关注频道", "读者打开主页或链接"},

	text.Traditional: {"讀者在留言中回答", "讀者收藏或轉發",
		"讀者追蹤頻道", "讀者打開主頁或連結"},
}

// goalsIn returns the goals in the language of a tag (BCP 47): in English if there are none.
func goalsIn(tag string) [numberOfGoals]string {
	all, _ := text.In(goals, tag)
	return all
}

// Hours are the hours of each day of the week, from Sunday on, in which posts do best: the best first. A day without
// hours has the usual ones.
type Hours [7][]int

// usualHours are the hours that a day takes where nothing better is known, and once the better ones are taken.
var usualHours = []int{12, 18, 9, 15, 21, 10, 16, 13, 19, 7, 20, 11, 17, 14, 8, 22}

// none reports whether no day has hours.
func (h Hours) none() bool {
	return !slices.ContainsFunc(h[:], func(day []int) bool { return len(day) > 0 })
}

// The weights of the hours of a business and of a platform: of the best one, and what each place after it has less.
const (
	weighBusiness, lessBusiness = 4.0, 1.0
	weighPlatform, lessPlatform = 3.0, 0.7
)

// hoursOn returns the hours of a kind of business on platforms, the best first: those at which its customers decide,
// and among them those at which the readers of the platforms are there. The weekend is that of a country.
func hoursOn(of business.Kind, platforms []string, country string) (all Hours) {
	working := calendar.WorkingDays(country)
	for day := range all {
		weekend := !slices.Contains(working, strings.ToLower(time.Weekday(day).String()))
		score := map[int]float64{}
		add := func(hours []int, most, less float64) {
			for n, hour := range hours {
				score[hour] += max(most-less*float64(n), less/2)
			}
		}
		if weekend && len(of.FreeHours) > 0 {
			add(of.FreeHours, weighBusiness, lessBusiness)
		} else {
			add(of.Hours, weighBusiness, lessBusiness)
		}
		for _, name := range platforms {
			row, _ := registry.Find(name)
			if habits := row.Capabilities.Habits; weekend {
				add(habits.WeekendHours, weighPlatform/float64(len(platforms)), lessPlatform/float64(len(platforms)))
			} else {
				add(habits.Hours, weighPlatform/float64(len(platforms)), lessPlatform/float64(len(platforms)))
			}
		}
		all[day] = slices.SortedFunc(maps.Keys(score), func(a, b int) int {
			return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(a, b))
		})
	}
	return all
}

// measured puts the hours of a day of the week that did better than others by an account's own figures before the rest.
func (h *Hours) measured(day time.Weekday, better []int) {
	rest := slices.DeleteFunc(slices.Clone(h[day]), func(hour int) bool { return slices.Contains(better, hour) })
	h[day] = slices.Concat(better, rest)
}

// gaps are the shortest distances between two times of a day, in the order in which they are tried.
var gaps = []time.Duration{90 * time.Minute, 45 * time.Minute, 20 * time.Minute, time.Minute}

// firstMinute and minutes bound the minute of a time within its hour: few people publish at a full hour by hand.
const firstMinute, minutes = 2, 55

// The time that an item of today is given to be made, and that which each item of today takes of its rest.
const (
	headStart = 15 * time.Minute
	share     = 20 * time.Minute
)

// timesOf returns the n times of a day after a time, as durations from midnight. Of a schedule with more times it takes
// n that are spread evenly over them, just as they are. To one with fewer it adds some in the given hours, and then in
// the usual ones, each at a minute by chance. On a day that is almost over there are fewer, whatever the hours are.
func timesOf(schedule []string, n int, hours []int, after time.Duration, chance *rand.Rand) (times []time.Duration,
	err error) {
	for _, text := range slices.Sorted(slices.Values(schedule)) {
		at, err := clock.Parse(text)
		if err != nil {
			return nil, err
		}
		if at > after {
			times = append(times, at)
		}
	}
	from := after + headStart
	if after > 0 {
		n = min(n, len(times)+max(0, int((24*time.Hour-from)/share)))
	}
	if len(times) >= n {
		chosen := make([]time.Duration, n)
		for i := range chosen {
			chosen[i] = times[i*len(times)/n]
		}
		return chosen, nil
	}
	for _, gap := range gaps {
		for _, hour := range slices.Concat(hours, usualHours) {
			at := time.Duration(hour)*time.Hour + time.Duration(firstMinute+chance.IntN(minutes))*time.Minute
			close := func(other time.Duration) bool { return (other - at).Abs() < gap }
			if len(times) < n && !slices.ContainsFunc(times, close) && (after <= 0 || at >= from) {
				times = append(times, at)
			}
		}
	}
	for at := from; len(times) < n && after > 0 && at < 24*time.Hour; at += share / 2 {
		if !slices.Contains(times, at) {
			times = append(times, at)
		}
	}
	slices.Sort(times)
	return times, nil
}

const (
	// rounds is the number of times that topics are requested for a chunk: slots without a new topic are then dropped.
	rounds = 8
	// patient is the number of rounds in which neighbours with one angle are refused. After that, a topic that is new
	// is better than none.
	patient = 4
	// maxFailures is the number of times in a row that a question may fail before the rest is dropped.
	maxFailures = 7
	// mostRefused is the number of topics that a chunk remembers as too much like others.
	mostRefused = 50
	// pastTime is the time for which topics may not be repeated, and pastItems the number
	// of items that are read for that.
	pastTime  = 90 * 24 * time.Hour
	pastItems = 500
)

// choice is what was chosen for the next chunk.
type choice struct {
	// Round is the number of answers, Chosen has the topics of the slots so far, and Refused are those that were too
	// much like others.
	Round         int            `json:"round,omitempty"`
	Topics        map[int]string `json:"chosen,omitempty"`
	RefusedTopics []string       `json:"refused,omitempty"`
	// Views are the angles and hooks of the chosen topics.
	Views map[int]view `json:"views,omitempty"`
}

// pastChunk is the document before that of the first chunk: what the channel was like when the planning began.
type pastChunk struct {
	chunk
	Posts posts `json:"posts,omitzero"`
}

// remember notes the topics of earlier items of the factory, and the figures of its posts.
func (h *Handler) remember(ctx context.Context, j *job) (err error) {
	past := pastChunk{chunk: chunk{Items: []topicItem{}}}
	if past.Posts, err = h.postsOf(ctx, j); err != nil {
		return err
	}
	q := store.Query{
		Index: store.ByParent, Partition: item.ParentPartition(j.Owner, j.factoryID),
		From: id.First(id.ContentItem, j.plan.CreatedAt.Add(-pastTime)), Limit: 100,
		OneOf: map[string][]string{"state": {string(item.Queued), string(item.Generating), string(item.Generated),
			string(item.Scheduled), string(item.Publishing), string(item.Published)}},
	}
	for len(past.Items) < pastItems {
		page, err := h.DB.List(ctx, q)
		if err != nil {
			return err
		}
		for _, it := range page.Items {
			r, err := item.Decode(&it)
			if err != nil {
				return err
			}
			past.Items = append(past.Items, topicItem{Topic: clean(r.Item.Prompt)})
		}
		if page.Next == nil {
			break
		}
		q.After = page.Next
	}
	hours, err := hoursOf(ctx, h.DB, h.Now, j.factoryItem, j.plan.Timezone, j.recipe)
	if err != nil {
		return err
	}
	if err := h.learned(ctx, j); err != nil {
		return err
	}
	j.Also(func(_ context.Context, tx *store.Tx) error {
		return errors.Join(j.plan.note(tx, j.Owner, chunkKey(j.Subject, 0), "content_plan_items", past),
			j.enter(tx, h.Now(), Planning, nil))
	})
	return errors.Join(j.Keep("hours", hours), j.Sleep(0))
}

// hoursOf returns the best hours in a time zone for the accounts of a factory and the business of a recipe.
func hoursOf(ctx context.Context, db *store.DB, now func() time.Time, factory store.Item, zoneName string,
	r Recipe) (all Hours, err error) {
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		return all, err
	}
	habits, err := analytics.NewService(db, now).HabitsOf(ctx, factory, zone)
	if err != nil {
		return all, err
	}
	all = hoursOn(business.Named(r.Business), habits.Platforms, r.Country)
	for day, better := range habits.Better {
		all.measured(time.Weekday(day), better)
	}
	return all, nil
}

// choose asks the text model for topics of the next chunk, until all slots have one or the rounds are over.
func (h *Handler) choose(ctx context.Context, j *job) error {
	if err := h.offer(ctx, j); err != nil {
		return err
	}
	return h.talk(ctx, j, "topics", rounds)
}

// talk asks the text model for topics of the openings of the job, in up to some answers, which are kept by a name.
func (h *Handler) talk(ctx context.Context, j *job, name string, most int) error {
	used, dropped, err := h.used(ctx, j)
	if err != nil {
		return err
	}
	j.choice, err = ask.Talk[choice]{Models: h.Providers, Name: name, Questions: most, Failures: maxFailures,
		NextQuestion: func(ctx context.Context, known choice) (ask.Question, error) {
			wide, err := h.outlook(ctx, j)
			j.choice, wide.Dropped = known, dropped
			return j.question(wide, used), err
		},
		Take: func(known *choice, answer json.RawMessage) (bool, error) {
			if err := j.take(answer, used); err != nil {
				return false, err
			}
			j.Round++
			*known = j.choice
			return len(j.Topics) == len(j.openings()), nil
		}}.In(ctx, j.Run)
	return err
}

// used returns the topics that new ones must differ from, the latest first, and those that a person did not want. It
// also sets the posts of the job.
func (h *Handler) used(ctx context.Context, j *job) (topics []string, dropped []prompt.Dropped, err error) {
	last := j.Chunks
	if j.Writing {
		last = len(chunkKeys(j.Subject, j.plan.Items.Total))
	}
	keys := make([]store.Key, last+1)
	for n := range keys {
		keys[n] = chunkKey(j.Subject, last-n)
	}
	items, err := h.DB.GetAll(ctx, keys...)
	if err != nil {
		return nil, nil, err
	}
	for _, it := range items {
		if it.Kind == "" { // the model has failed before its topics were chosen
			continue
		}
		var c pastChunk // only that of the past has posts
		if err := it.Decode(&c); err != nil {
			return nil, nil, err
		}
		j.posts = c.Posts
		for _, m := range c.Items {
			if m.Topic != "" {
				topics = append(topics, m.Topic)
			}
			for _, refused := range m.Refused {
				topics = append(topics, refused.Topic)
			}
			if dropped = append(dropped, m.Refused...); m.State == TopicDiscarded && m.Reason != "" {
				dropped = append(dropped, prompt.Dropped{Topic: m.Topic, Reason: m.Reason})
			}
		}
	}
	return topics, dropped[max(0, len(dropped)-mostDropped):], nil
}

// mostDropped is the number of topics that a person did not want of which a prompt tells.
const mostDropped = 30

// take takes over the topics of an answer that are new.
func (j *job) take(answer json.RawMessage, used []string) error {
	topics, err := parse(answer)
	if err != nil {
		return &provider.Error{Kind: provider.Transient, Code: "text_unreadable",
			Message: "The model's topics could not be read.", Cause: err}
	}
	var taken knownTopics
	for _, topic := range used {
		taken = append(taken, shapeOf(topic))
	}
	for _, topic := range j.Topics {
		taken = append(taken, shapeOf(topic))
	}
	if j.Topics == nil {
		j.Topics = map[int]string{}
	}
	if j.Views == nil {
		j.Views = map[int]view{}
	}
	all := j.openings()
	for _, t := range topics {
		s := shapeOf(t.Topic)
		switch {
		case t.Slot < 1 || t.Slot > len(all) || j.Topics[t.Slot] != "":
		case taken.has(s), j.Round < patient && j.besides(t), j.invents(all[t.Slot-1], t):
			j.RefusedTopics = append(j.RefusedTopics[max(0, len(j.RefusedTopics)+1-mostRefused):], t.Topic)
		default:
			j.Topics[t.Slot], j.Views[t.Slot] = t.Topic, t.view
			taken = append(taken, s)
		}
	}
	return nil
}

// besides reports whether the topic before or after a topic has the same angle.
func (j *job) besides(t topic) bool {
	for _, n := range []int{t.Slot - 1, t.Slot + 1} {
		if other := j.Views[n]; j.Topics[n] != "" && t.Angle != "" && similarity(shapeOf(t.Angle),
			shapeOf(other.Angle)) >= sameAngle {
			return true
		}
	}
	return false
}

// invents reports whether a topic states what none of the inputs of its item has, or has a forbidden word. The item
// takes its topic for an input, so nothing else would find it.
func (j *job) invents(o opening, t topic) bool {
	recipe := j.recipe.Items[o.contentType]
	if recipe == nil || j.Mode == tenant.Test {
		return false
	}
	r := *recipe
	place := o.place
	place.Brief = string(j.plan.Brief) + "\n" + o.about
	r.Item.Prompt, r.Slot, r.Item.PublishAt = "", &place, resource.InstantOrNil(&o.at)
	if _, err := j.present(&r, o.product, o.at); err != nil {
		return false // making the item returns the error
	}
	return r.Invents(o.at, t.Topic, t.Angle, t.Hook)
}

// sameAngle is the similarity from which on two angles count as the same.
const sameAngle = 0.8

// productsAtOnce is the number of products that a plan takes in turn if its caller names none: the newest ones, and
// promotedAtOnce that of the promotions whose products it adds to them.
const productsAtOnce, promotedAtOnce = 50, 100

// offer sets which products the items of the next chunk present: those that the plan names, and else the newest active
// ones of the shop and those on offer on days of the plan. They are chosen once for a chunk.
func (h *Handler) offer(ctx context.Context, j *job) error {
	if !j.recipe.Sells {
		return nil
	}
	if j.exhibits != nil {
		var named []string
		for _, one := range j.exhibits {
			named = append(named, one.Product)
		}
		slices.Sort(named)
		items, err := h.DB.GetAll(ctx, store.IDKeys(slices.Compact(named))...)
		if err != nil {
			return err
		}
		_, err = j.stock(items)
		return err
	}
	items, err := h.stored(ctx, j, j.plan.ProductIDs)
	if err != nil {
		return err
	}
	if len(j.plan.ProductIDs) == 0 {
		promoted, err := h.promoted(ctx, j, items)
		if err != nil {
			return err
		}
		items = append(items, promoted...)
	}
	found, err := j.stock(items)
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(j.plan.Timezone)
	if err != nil {
		return err
	}
	all := (&shelf{seed: j.plan.seed(), zone: zone, products: found, shop: j.shop, slots: j.slots,
		places: j.places}).allot()
	from, to := j.chunk()
	maps.DeleteFunc(all, func(n int, _ exhibit) bool { return n < from || n >= to })
	j.exhibits = all
	j.tellOffers()
	return j.Keep("products", j.exhibits)
}

// tellOffers tells the places of the next chunk what their products are on offer for.
func (j *job) tellOffers() {
	for n, one := range j.exhibits {
		j.places[n].Offer = one.Offer
	}
}

// promoted reads the products of promotions on days of the plan that are not among items.
func (h *Handler) promoted(ctx context.Context, j *job, items []store.Item) ([]store.Item, error) {
	sales, err := h.salesOf(ctx, j)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, p := range sales {
		for _, productID := range p.ProductIDs {
			known := slices.ContainsFunc(items, func(it store.Item) bool { return it.PK == productID })
			if !known && !slices.Contains(ids, productID) && len(ids) < promotedAtOnce {
				ids = append(ids, productID)
			}
		}
	}
	return h.DB.GetAll(ctx, store.IDKeys(ids)...)
}

// salesOf reads the promotions of the shop on days of the plan.
func (h *Handler) salesOf(ctx context.Context, j *job) (all []record.Promotion, err error) {
	if !j.recipe.Sells || len(j.slots) == 0 {
		return nil, nil
	}
	page, err := h.DB.List(ctx, store.Query{Index: store.ByParent, Limit: promotedAtOnce,
		Partition: record.PromotionPartition(j.Owner, j.factoryID)})
	if err != nil {
		return nil, err
	}
	first, end := j.slots[0].At, j.slots[len(j.slots)-1].At
	for _, it := range page.Items {
		p, err := record.DecodePromotion(&it, h.Now())
		if err != nil {
			return nil, err
		}
		if p.EndsAt.After(first) && !p.StartsAt.After(end) {
			all = append(all, p)
		}
	}
	return all, nil
}

// stock fills the shop with the active products among items, and returns their ids.
func (j *job) stock(items []store.Item) (found []string, err error) {
	j.shop = map[string]*record.StoredProduct{}
	for _, it := range items {
		if it.Kind != record.ItemKind || it.Owner != j.Owner {
			continue
		}
		r, err := record.Decode(&it)
		if err != nil {
			return nil, err
		}
		if r.FactoryID == j.factoryID && r.State == record.Active {
			j.shop[r.ID] = r
			found = append(found, r.ID)
		}
	}
	return found, nil
}

// stored reads products that are named, or lists the newest ones.
func (h *Handler) stored(ctx context.Context, j *job, named []string) ([]store.Item, error) {
	if len(named) == 0 {
		page, err := h.DB.List(ctx, store.Query{
			Index: store.ByParent, Partition: record.Partition(j.Owner, j.factoryID), Limit: productsAtOnce,
			OneOf: map[string][]string{"state": {string(record.Active)}},
		})
		return page.Items, err
	}
	return h.DB.GetAll(ctx, store.IDKeys(named)...)
}

// productOf returns the product of a slot by its number in the plan, or nil if there is none.
func (j *job) productOf(n int) *record.StoredProduct { return j.shop[j.exhibits[n].Product] }

// present has an item present a product, unless that is nil, with the promotion that is active when it is published,
// and returns the credits that it costs less.
func (j *job) present(r *item.Record, p *record.StoredProduct, at time.Time) (saved int64, err error) {
	if !j.recipe.Sells {
		return 0, nil
	}
	if p == nil {
		return item.PlannerOf(r).Present(nil), nil
	}
	product, err := item.NewProduct(p, "", r.Brief.Region, at)
	if err != nil {
		return 0, err
	}
	// A promotion that a rule of law does not let content announce is left out.
	if then := *r; product.Promotion != nil {
		then.Brief.Product = product
		if len(law.Check(item.FactsOf(&then, &item.Publication{}, at))) > 0 {
			product.Promotion = nil
		}
	}
	return item.PlannerOf(r).Present(product), nil
}

// The posts that a planner sees: how many are read, and how many of the best and of the worst ones it is told.
const (
	postsRead = 60
	postsTold = 5
	// mostOffers is the number of promotions of which it is told, and mostLabel the size of their texts in bytes.
	mostOffers, mostLabel = 20, 200
)

// outlook returns what the planner knows beside the slots: the dates of the brief, the platforms, the offers, the best
// and the worst posts with their figures, and what figures and experiments have shown.
func (h *Handler) outlook(ctx context.Context, j *job) (a prompt.Planning, err error) {
	a.Dates = j.plan.datesTold(j.recipe.Language)
	a.Newsless = j.recipe.Trade == string(factory.News)
	if a.Platforms, err = h.platforms(ctx, j); err != nil {
		return a, err
	}
	sales, err := h.salesOf(ctx, j)
	if err != nil {
		return a, err
	}
	zone, err := time.LoadLocation(j.plan.Timezone)
	if err != nil {
		return a, err
	}
	for _, p := range sales[:min(len(sales), mostOffers)] {
		a.Offers = append(a.Offers, clip(fmt.Sprintf("%s, %s, from %s to %s, %d products. %s", p.Name,
			reduction(p.Discount), p.StartsAt.In(zone).Format(time.DateOnly),
			p.EndsAt.Add(-time.Nanosecond).In(zone).Format(time.DateOnly), len(p.ProductIDs), p.Message), mostLabel))
	}
	seen := j.posts
	if j.again != nil { // perhaps months after the planning
		if seen, err = h.postsOf(ctx, j); err != nil {
			return a, err
		}
	}
	a.Best, a.Worst = seen.Best, seen.Worst
	if seen.Hook != "" {
		a.Learned = append(a.Learned, fmt.Sprintf("first lines of the kind %s have the best figures", seen.Hook))
	}
	for _, l := range j.plan.Learned {
		a.Learned = append(a.Learned, fmt.Sprintf("an experiment has shown that %s works best as the %s", l.Arm,
			l.Factor))
	}
	return a, nil
}

// posts are what a planner sees of the posts of a channel: the best and the worst ones, and the kind of first lines
// that have the best figures.
type posts struct {
	Best  []prompt.Figures `json:"best,omitempty"`
	Worst []prompt.Figures `json:"worst,omitempty"`
	Hook  prompt.HookKind  `json:"hook,omitempty"`
}

// postsOf reads the posts of the channel.
func (h *Handler) postsOf(ctx context.Context, j *job) (p posts, err error) {
	page, err := item.List(ctx, h.DB, store.Query{Index: store.ByParent,
		Partition: item.ParentPartition(j.Owner, j.factoryID),
		OneOf:     map[string][]string{"state": item.WrittenStates()}, Limit: postsRead})
	if err != nil {
		return p, err
	}
	best, worst := item.Extremes(page.Records, postsTold)
	return posts{figuresOf(best), figuresOf(worst), item.BestHook(page.Records)}, nil
}

// figuresOf returns posts as the planner reads them.
func figuresOf(posts []item.Performance) (all []prompt.Figures) {
	for _, p := range posts {
		all = append(all, prompt.Figures{Title: clip(p.Title, maxShown), Kind: string(p.Kind), Pillar: p.Pillar,
			Hook: p.Hook, Views: p.Views, Rate: p.Rate})
	}
	return all
}

// platforms returns the platforms of the accounts of the factory, with their limits for posts.
func (h *Handler) platforms(ctx context.Context, j *job) (all []prompt.Platform, err error) {
	ids, err := factoryrecord.Accounts(&j.factoryItem)
	if err != nil {
		return nil, err
	}
	accounts, err := h.DB.GetAll(ctx, store.IDKeys(ids)...)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, it := range accounts {
		if name := it.Filters["platform"]; name != "" && it.Owner == j.Owner && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		row, ok := registry.Find(name)
		if !ok {
			continue
		}
		c := row.Capabilities
		one := prompt.Platform{Name: c.Label, Links: c.Habits.Links, Action: c.Habits.Action}
		for _, rule := range c.Kinds {
			one.Caption, one.Title = max(one.Caption, rule.Caption.Max), max(one.Title, rule.Title.Max)
		}
		all = append(all, one)
	}
	return all, nil
}
