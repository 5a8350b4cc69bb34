package plan

import "strings"

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
}

// goalsIn returns the goals in the language of a tag (BCP 47): in English if there are none.
func goalsIn(tag string) [numberOfGoals]string {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if all, ok := goals[base]; ok {
		return all
	}
	return goals["en"]
}
