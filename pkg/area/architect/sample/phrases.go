package sample

import (
	"slices"
	"strings"
	"unicode"
)

// phrase is what the assistant says in one language.
type phrase struct {
	help, refused                string
	factory, plan, item          string
	factories, proposals, models string
	about, analytics             string
	words                        []string // by which the language is recognized
	day, week                    []string // how words for them begin
	currency                     string   // of a shop whose texts are in it
}

var phrases = map[string]phrase{
	"en": {
		help:      "Tell me what you need: a new factory, a content plan, a single post or video, or how a factory is doing. This is the sandbox: with a live key a language model answers.",
		refused:   "That does not work: %s",
		factory:   "I have drafted the factory “%s”. Check it, change what you like, and apply it.",
		plan:      "I have drafted a content plan of %d days with %d items a day. Check it, change what you like, and apply it.",
		item:      "I have drafted a content item: “%s”. Check it, change what you like, and apply it.",
		factories: "You have %d factories. %s",
		proposals: "There are %d open proposals. %s",
		models:    "These models make images: %s",
		about:     "The chat is about the factory “%s”, a %s.",
		analytics: "In the last 30 days it has made %d items; %d attempts failed, and there were %d publications.",
		words:     []string{"the", "a", "an", "and", "for", "in", "of", "is", "my", "how", "what", "with", "about", "please", "make", "are"},
		day:       []string{"day"}, week: []string{"week"}, currency: "USD",
	},
	"de": {
		help:      "Sagen Sie mir, was Sie brauchen: eine neue Fabrik, einen Redaktionsplan, einen einzelnen Beitrag oder ein Video, oder wie eine Fabrik läuft. Dies ist die Sandbox: mit einem Live-Schlüssel antwortet ein Sprachmodell.",
		refused:   "Das geht nicht: %s",
		factory:   "Ich habe die Fabrik „%s“ entworfen. Prüfen Sie den Entwurf, ändern Sie, was Sie möchten, und wenden Sie ihn an.",
		plan:      "Ich habe einen Plan für %d Tage mit %d Beiträgen am Tag entworfen. Prüfen Sie den Entwurf, ändern Sie, was Sie möchten, und wenden Sie ihn an.",
		item:      "Ich habe einen Inhalt entworfen: „%s“. Prüfen Sie den Entwurf, ändern Sie, was Sie möchten, und wenden Sie ihn an.",
		factories: "Sie haben %d Fabriken. %s",
		proposals: "Es gibt %d offene Vorschläge. %s",
		models:    "Diese Modelle machen Bilder: %s",
		about:     "In diesem Chat geht es um die Fabrik „%s“ (%s).",
		analytics: "In den letzten 30 Tagen hat sie %d Inhalte gemacht; %d Versuche sind gescheitert, und es gab %d Veröffentlichungen.",
		words:     []string{"der", "die", "das", "ein", "eine", "einen", "und", "für", "auf", "ist", "mein", "meine", "wie", "was", "mit", "über", "bitte", "ich", "am"},
		day:       []string{"tag"}, week: []string{"woche"}, currency: "EUR",
	},
	"es": {
		help:      "Dígame qué necesita: una fábrica nueva, un plan de contenidos, una sola publicación o un vídeo, o cómo va una fábrica. Esto es el sandbox: con una clave real responde un modelo de lenguaje.",
		refused:   "Eso no es posible: %s",
		factory:   "He preparado un borrador de la fábrica «%s». Revíselo, cambie lo que quiera y aplíquelo.",
		plan:      "He preparado un borrador de un plan de %d días con %d publicaciones al día. Revíselo, cambie lo que quiera y aplíquelo.",
		item:      "He preparado un borrador de un contenido: «%s». Revíselo, cambie lo que quiera y aplíquelo.",
		factories: "Tiene %d fábricas. %s",
		proposals: "Hay %d propuestas abiertas. %s",
		models:    "Estos modelos hacen imágenes: %s",
		about:     "Este chat trata de la fábrica «%s» (%s).",
		analytics: "En los últimos 30 días ha hecho %d contenidos; %d intentos fallaron y hubo %d publicaciones.",
		words:     []string{"el", "la", "los", "las", "un", "una", "y", "para", "en", "de", "es", "mi", "cómo", "qué", "con", "sobre", "quiero", "al"},
		day:       []string{"día", "dia"}, week: []string{"semana"}, currency: "EUR",
	},
	"fr": {
		help:      "Dites-moi ce qu’il vous faut : une nouvelle usine, un plan de contenu, une publication ou une vidéo, ou comment va une usine. Ceci est le bac à sable : avec une clé réelle, un modèle de langage répond.",
		refused:   "Ce n’est pas possible : %s",
		factory:   "J’ai préparé un brouillon de l’usine « %s ». Vérifiez-le, changez ce que vous voulez et appliquez-le.",
		plan:      "J’ai préparé un brouillon de plan de %d jours avec %d publications par jour. Vérifiez-le, changez ce que vous voulez et appliquez-le.",
		item:      "J’ai préparé un brouillon de contenu : « %s ». Vérifiez-le, changez ce que vous voulez et appliquez-le.",
		factories: "Vous avez %d usines. %s",
		proposals: "Il y a %d propositions ouvertes. %s",
		models:    "Ces modèles font des images : %s",
		about:     "Cette conversation porte sur l’usine « %s » (%s).",
		analytics: "Ces 30 derniers jours, elle a fait %d contenus ; %d essais ont échoué, et il y a eu %d publications.",
		words:     []string{"le", "la", "les", "un", "une", "des", "et", "pour", "en", "est", "mon", "ma", "comment", "que", "avec", "sur", "je", "par"},
		day:       []string{"jour"}, week: []string{"semaine"}, currency: "EUR",
	},
	"pt": {
		help:      "Diga-me o que precisa: uma fábrica nova, um plano de conteúdo, uma única publicação ou um vídeo, ou como vai uma fábrica. Isto é o sandbox: com uma chave real responde um modelo de linguagem.",
		refused:   "Isso não é possível: %s",
		factory:   "Preparei um rascunho da fábrica “%s”. Confira, mude o que quiser e aplique-o.",
		plan:      "Preparei um rascunho de um plano de %d dias com %d publicações por dia. Confira, mude o que quiser e aplique-o.",
		item:      "Preparei um rascunho de um conteúdo: “%s”. Confira, mude o que quiser e aplique-o.",
		factories: "Você tem %d fábricas. %s",
		proposals: "Há %d propostas abertas. %s",
		models:    "Estes modelos fazem imagens: %s",
		about:     "Esta conversa é sobre a fábrica “%s” (%s).",
		analytics: "Nos últimos 30 dias ela fez %d conteúdos; %d tentativas falharam e houve %d publicações.",
		words:     []string{"o", "a", "os", "as", "um", "uma", "e", "para", "em", "do", "da", "é", "meu", "minha", "como", "com", "sobre", "quero", "por", "não"},
		day:       []string{"dia"}, week: []string{"semana"}, currency: "BRL",
	},
	"ru": {
		help:      "Скажите, что нужно: новая фабрика, контент-план, отдельный пост или видео, или как идут дела у фабрики. Это песочница: с боевым ключом отвечает языковая модель.",
		refused:   "Это невозможно: %s",
		factory:   "Готов черновик фабрики «%s». Проверьте его, измените, что хотите, и примените.",
		plan:      "Готов черновик плана: дней — %d, публикаций в день — %d. Проверьте его, измените, что хотите, и примените.",
		item:      "Готов черновик материала: «%s». Проверьте его, измените, что хотите, и примените.",
		factories: "Ваши фабрики: %d. %s",
		proposals: "Открытые предложения: %d. %s",
		models:    "Эти модели делают изображения: %s",
		about:     "Этот чат — о фабрике «%s» (%s).",
		analytics: "За последние 30 дней сделано материалов: %d; неудачных попыток: %d; публикаций: %d.",
		day:       []string{"дн", "день"}, week: []string{"недел"}, currency: "RUB",
	},
}

// languages are those that are recognized, in the order of preference.
var languages = []string{"en", "de", "es", "fr", "pt", "ru"}

// languageOf returns the language of a text, English where it is none of those that the
// assistant speaks.
func languageOf(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) {
		return "ru"
	}
	best, most := "en", 0
	for _, l := range languages {
		n := 0
		for _, word := range wordsOf(text) {
			if slices.Contains(phrases[l].words, word) {
				n++
			}
		}
		if n > most {
			best, most = l, n
		}
	}
	return best
}

// wordsOf returns the words of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number) })
}
