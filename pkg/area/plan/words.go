package plan

import (
	"regexp"
	"strings"
	"sync"
)

// shopPillars are the recurring subjects of a shop that names no topics, by language: what is new, how it is used, how
// it is made, what customers ask, and who makes it.
var shopPillars = map[string][]string{
	"ar": {"جديدنا", "طريقة الاستخدام", "كيف يُصنع", "أسئلة العملاء", "الناس وراء المتجر"},
	"de": {"Neu im Sortiment", "So benutzt man es", "Wie es gemacht wird", "Fragen von Kunden",
		"Die Menschen dahinter"},
	"en": {"New in the shop", "How to use it", "How it is made", "What customers ask", "The people behind it"},
	"es": {"Novedades de la tienda", "Cómo se usa", "Cómo se hace", "Lo que preguntan los clientes",
		"Quién está detrás"},
	"fr": {"Nouveautés de la boutique", "Comment s'en servir", "Comment c'est fait", "Les questions des clients",
		"Les gens derrière la boutique"},
	"he": {"חדש בחנות", "איך משתמשים", "איך זה נוצר", "מה הלקוחות שואלים", "האנשים שמאחורי החנות"},
	"hi": {"दुकान में नया", "इस्तेमाल कैसे करें", "यह कैसे बनता है", "ग्राहक क्या पूछते हैं", "दुकान के पीछे के लोग"},
	"it": {"Novità in negozio", "Come si usa", "Come è fatto", "Che cosa chiedono i clienti", "Chi c'è dietro"},
	"ja": {"新着商品", "使い方", "ものづくりの裏側", "お客さまの質問", "店の人たち"},
	"ko": {"새로 들어온 상품", "사용 방법", "만드는 과정", "고객의 질문", "가게 사람들"},
	"nl": {"Nieuw in de winkel", "Zo gebruik je het", "Hoe het gemaakt wordt", "Wat klanten vragen",
		"De mensen erachter"},
	"pl": {"Nowości w sklepie", "Jak tego używać", "Jak to powstaje", "O co pytają klienci",
		"Ludzie, którzy to tworzą"},
	"pt": {"Novidades da loja", "Como se usa", "Como é feito", "O que os clientes perguntam", "As pessoas por trás"},
	"ru": {"Новинки магазина", "Как этим пользоваться", "Как это делают", "Что спрашивают покупатели", "Люди магазина"},
	"th": {"ของใหม่ในร้าน", "วิธีใช้", "เบื้องหลังการผลิต", "คำถามจากลูกค้า", "คนเบื้องหลังร้าน"},
	"tr": {"Mağazada yeni", "Nasıl kullanılır", "Nasıl yapılır", "Müşterilerin soruları", "Arkasındaki insanlar"},
	"uk": {"Новинки магазину", "Як цим користуватися", "Як це роблять", "Що питають покупці", "Люди магазину"},
	"vi": {"Hàng mới về", "Cách sử dụng", "Quy trình làm ra", "Khách hàng hỏi gì", "Những người đứng sau"},
	"zh": {"店里新品", "怎么用", "怎样做成", "顾客常问", "背后的人"},
}

// shopPillarsIn returns the pillars of a shop in the language of a tag (BCP 47): in English if there are none.
func shopPillarsIn(tag string) []string {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if all, ok := shopPillars[base]; ok {
		return all
	}
	return shopPillars["en"]
}

var (
	// motion matches the words by which a brief asks for pictures that move.
	motion = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:clips?|klip\p{L}*|video ?clips?|motion|footage|film(?:ed|` +
			`s)? scenes?|` +
			`animat\p{L}*|animation\p{L}*|animaci\p{L}*|animazion\p{L}*|animaç\p{L}*|animacj\p{L}*|animasyon\p{L}*|` +
			`moving (?:pictures?|images?|scenes?)|bewegtbild\p{L}*|bewegte\p{L}? bild\p{L}*|gefilmt\p{L}*|` +
			`images? animées?|filmée?s?|imágenes en movimiento|filmad\p{L}*|immagini in movimento|filmat\p{L}*|` +
			`imagens em movimento|ruchom\p{L}* obraz\p{L}*|клип\p{L}*|анимац\p{L}*|анімац\p{L}*|движущ\p{L}*|` +
			`рухом\p{L}*|` +
			`съ[её]мк\p{L}*|hareketli görüntü\p{L}*|bewegend\p{L}* beeld\p{L}*|hình ảnh chuyển động|hoạt hình|` +
			`क्लिप|एनिमेशन|متحركة?|אנימציה|קליפים?)(?:[^\p{L}\p{M}]|$)|動く映像|動画クリップ|アニメーション|움직이는|클립|애니메이션|` +
			`动态画面|动画|视频片段|動態|ภาพเคลื่อนไหว|คลิป`)
	})
	// still matches the words before or after them by which it asks for none.
	still = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:no|not|without|never|kein\p{L}*|ohne|nicht|sans|pas d[e']|aucun\p{L}*|sin|` +
			`nada de|` +
			`senza|niente|sem|bez|żadn\p{L}*|без|не|yok|olmadan|geen|zonder|không|ללא|בלי|بدون|لا|बिना|ไม่|不要|不用|无|` +
			`無)\s?` +
			`(?:[\p{L}\p{M}]+\s){0,2}$`)
	})
)

// asksForMotion reports whether a brief asks for pictures that move, and does not ask for none.
func asksForMotion(brief string) bool {
	for from := 0; from < len(brief); {
		at := motion().FindStringIndex(brief[from:])
		if at == nil {
			return false
		}
		begin := strings.IndexFunc(brief[from+at[0]:], func(r rune) bool {
			return r > ' ' && !strings.ContainsRune(",.;:!?-–—(\"'", r)
		})
		if !still().MatchString(brief[:from+at[0]+max(begin, 0)]) {
			return true
		}
		from += max(at[1], 1)
	}
	return false
}
