package craft_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/craft/guard"
)

// facts are the inputs of a shop, in each language.
var facts = map[string][]string{
	"en": {"Shop in York. Opening offer: 10% off until 5 December 2026. Open Monday to Friday, 9 am to 6 pm. 2-year warranty. £12."},
	"de": {"Laden in Kassel. Angebot: 10 % Rabatt bis 5. Dezember 2026. Geöffnet Montag bis Freitag, 9 bis 18 Uhr. 2 Jahre Garantie. 12 €."},
	"es": {"Tienda en Cádiz. Oferta: 10 % de descuento hasta el 5 de diciembre de 2026. Abierto de lunes a viernes, 9:00 a 18:00. 2 años de garantía. 12 €."},
	"fr": {"Boutique à Nantes. Offre : 10 % de remise jusqu'au 5 décembre 2026. Ouvert du lundi au vendredi, de 9 h à 18 h. Garantie 2 ans. 12 €."},
	"it": {"Negozio a Lecce. Offerta: 10 % di sconto fino al 5 dicembre 2026. Aperto dal lunedì al venerdì, 9:00-18:00. Garanzia 2 anni. 12 €."},
	"pt": {"Loja em Braga. Oferta: 10 % de desconto até 5 de dezembro de 2026. Aberto de segunda a sexta, das 9h00 às 18h00. Garantia de 2 anos. 12 €."},
	"ru": {"Магазин в Твери. Скидка 10 % до 5 декабря 2026 года. Открыто с понедельника по пятницу, 9:00–18:00. Гарантия 2 года. 900 рублей."},
	"uk": {"Крамниця в Луцьку. Знижка 10 % до 5 грудня 2026 року. Відчинено з понеділка по п'ятницю, 9:00–18:00. Гарантія 2 роки. 400 гривень."},
	"pl": {"Sklep w Lublinie. Rabat 10% do 5 grudnia 2026. Otwarte od poniedziałku do piątku, 9:00–18:00. Gwarancja 2 lata. 45 zł."},
	"tr": {"İzmir'de bir dükkân. 5 Aralık 2026'ya kadar %10 indirim. Pazartesiden cumaya 9.00-18.00 açık. 2 yıl garanti. 120 TL."},
	"ar": {"متجر في عمّان. خصم 10٪ حتى 5 ديسمبر 2026. مفتوح من الأحد إلى الخميس. ضمان سنتين 2 سنة. 40 ريالا."},
	"he": {"חנות ביפו. 10% הנחה עד 5 בדצמבר 2026. פתוח מיום ראשון עד חמישי, 9:00-18:00. אחריות 2 שנים. 40 ₪."},
	"hi": {"जयपुर की दुकान। 5 दिसंबर 2026 तक 10% छूट। सोमवार से शुक्रवार, सुबह 9 बजे से शाम 6 बजे तक खुला। 2 साल की वारंटी। ₹300।"},
	"ja": {"奈良の店。2026年12月5日まで10%引き。月曜から金曜、9時から18時。保証2年。1,200円。"},
	"zh": {"杭州小店。2026年12月5日前九折。周一到周五营业，上午9点到下午6点。质保2年。60元。"},
	"ko": {"전주 가게. 2026년 12월 5일까지 10% 할인. 월요일부터 금요일까지 오전 9시~오후 6시. 보증 2년. 12,000원."},
}

// faulty are texts with one claim that no input of facts has, by what the finding is named.
var faulty = map[string][][2]string{
	"en": {{"price", "Now for thirty-nine pounds."}, {"price", "It costs twenty-five euros."}, {"quantity", "Over three thousand happy customers."},
		{"quantity", "A 10-year warranty on all of it."}, {"weekday", "Come by on Sunday, the tea is hot."}, {"percentage", "Get forty percent off."},
		{"percentage", "10% of all people forget their keys."}, {"time", "We open at a quarter past seven."}, {"percentage", "Everything at half price."}, {"address", "Find us at teahouse dot shop."}},
	"de": {{"price", "Jetzt für neununddreißig Euro."}, {"quantity", "Über dreitausend zufriedene Kunden."}, {"quantity", "Mit zehn Jahren Garantie."},
		{"weekday", "Sonntags haben wir geöffnet."}, {"percentage", "Vierzig Prozent Rabatt."}, {"percentage", "10 % der Menschen vergessen ihre Schlüssel."},
		{"time", "Wir öffnen um Viertel nach sieben."}, {"percentage", "Alles zum halben Preis."}, {"hashtag", "Kommt vorbei. #rabatt40"}},
	"es": {{"price", "Ahora por treinta y nueve euros."}, {"quantity", "Más de tres mil clientes felices."}, {"quantity", "Con diez años de garantía."},
		{"weekday", "El domingo abrimos para vosotros."}, {"percentage", "Cuarenta por ciento de descuento."}, {"percentage", "El 10 % de los españoles olvida las llaves."}, {"percentage", "Todo a mitad de precio."}},
	"fr": {{"price", "Maintenant à trente-neuf euros."}, {"price", "À quatre-vingt-dix euros seulement."}, {"quantity", "Plus de trois mille clients ravis."}, {"quantity", "Une garantie de dix ans."},
		{"weekday", "Venez dimanche, le thé est chaud."}, {"percentage", "Quarante pour cent de remise."}, {"percentage", "10 % des Français oublient leurs clés."}, {"percentage", "Tout à moitié prix."}},
	"it": {{"price", "Ora a trentanove euro."}, {"quantity", "Più di tremila clienti felici."}, {"quantity", "Con dieci anni di garanzia."},
		{"weekday", "Domenica siamo aperti."}, {"percentage", "Quaranta per cento di sconto."}, {"percentage", "Il 10 % degli italiani dimentica le chiavi."}, {"percentage", "Tutto a metà prezzo."}},
	"pt": {{"price", "Agora por trinta e nove euros."}, {"quantity", "Mais de três mil clientes felizes."}, {"quantity", "Com dez anos de garantia."},
		{"weekday", "No domingo estamos abertos, venha."}, {"percentage", "Quarenta por cento de desconto."}, {"percentage", "10 % dos portugueses esquecem as chaves."}, {"percentage", "Tudo pela metade do preço."}},
	"ru": {{"price", "Теперь за четыреста рублей."}, {"quantity", "Более трёх тысяч довольных клиентов."}, {"quantity", "Гарантия десять лет."},
		{"weekday", "Ждём вас в воскресенье."}, {"percentage", "Скидка сорок процентов."}, {"percentage", "10 % людей забывают ключи."}, {"time", "Открываемся в половине восьмого."}},
	"uk": {{"price", "Тепер за дев'ятсот гривень."}, {"quantity", "Понад три тисячі задоволених клієнтів."}, {"quantity", "Гарантія десять років."},
		{"weekday", "Чекаємо на вас у неділю."}, {"percentage", "Знижка сорок відсотків."}, {"percentage", "10 % людей забувають ключі."}},
	"pl": {{"price", "Teraz za trzydzieści dziewięć złotych."}, {"quantity", "Ponad trzy tysiące zadowolonych klientów."}, {"quantity", "Gwarancja dziesięć lat."},
		{"weekday", "Zapraszamy w niedzielę."}, {"percentage", "Rabat czterdzieści procent."}, {"percentage", "10% ludzi zapomina kluczy."}, {"percentage", "Wszystko za pół ceny."}},
	"tr": {{"price", "Şimdi otuz dokuz lira."}, {"quantity", "Beş binden fazla mutlu müşteri."}, {"quantity", "On yıl garanti."},
		{"weekday", "Pazar günü de açığız, gelin."}, {"percentage", "Yüzde kırk indirim."}, {"percentage", "İnsanların yüzde onu anahtarını unutur."}},
	"ar": {{"price", "الآن بثلاثين ريالا فقط."}, {"quantity", "أكثر من ثلاثة آلاف عميل سعيد."}, {"quantity", "ضمان عشر سنوات."},
		{"weekday", "نستقبلكم يوم الجمعة."}, {"percentage", "خصم أربعين بالمئة."}, {"percentage", "10٪ من الناس ينسون مفاتيحهم."}, {"percentage", "كل شيء بنصف السعر."}},
	"he": {{"price", "עכשיו רק בשלושים שקלים."}, {"quantity", "יותר משלושת אלפים לקוחות מרוצים."}, {"quantity", "עשר שנות אחריות."},
		{"weekday", "פתוחים ביום שישי, בואו."}, {"percentage", "ארבעים אחוז הנחה."}, {"percentage", "10% מהאנשים שוכחים מפתחות."}, {"percentage", "הכול בחצי מחיר."}},
	"hi": {{"price", "अब सिर्फ़ सौ रुपये में।"}, {"quantity", "तीन हज़ार से ज़्यादा खुश ग्राहक।"}, {"quantity", "दस साल की वारंटी।"},
		{"weekday", "रविवार को भी दुकान खुली है।"}, {"percentage", "चालीस प्रतिशत छूट।"}, {"percentage", "10% लोग चाबी भूल जाते हैं।"}, {"percentage", "सब कुछ आधे दाम पर।"}},
	"ja": {{"price", "いまだけ八百円です。"}, {"quantity", "三千人を超えるお客様に愛されています。"}, {"quantity", "十年保証です。"}, {"quantity", "保証は5年です。"},
		{"weekday", "日曜日も営業しています。"}, {"percentage", "四割引でお届けします。"}, {"percentage", "10％の人は鍵を忘れます。"}, {"percentage", "全品半額です。"}, {"time", "朝八時半に開店します。"}},
	"zh": {{"price", "现在只要三十块。"}, {"price", "现价二十九元九。"}, {"quantity", "超过三千名顾客喜欢我们。"}, {"quantity", "质保十年。"},
		{"weekday", "周日也营业，欢迎来坐。"}, {"percentage", "全场六折。"}, {"percentage", "10%的人会忘带钥匙。"}, {"percentage", "全部半价。"}, {"time", "早上七点半开门。"}, {"hashtag", "来看看吧。#全场六折"}},
	"ko": {{"price", "지금 단돈 팔천 원."}, {"quantity", "삼천 명이 넘는 고객이 함께합니다."}, {"quantity", "10년 보증입니다."},
		{"weekday", "일요일에도 영업해요."}, {"percentage", "사십 퍼센트 할인."}, {"percentage", "전품목 반값입니다."}, {"time", "아침 여덟 시에 문을 열어요."}},
}

// clean are texts that state nothing which facts do not have.
var clean = map[string][]string{
	"en": {"Tea for two, at half past whenever.", "One may dream in May.", "Ten percent off until the fifth of December.", "We are open Monday to Friday, so see you on Wednesday.", "A hundred ways to say hello.",
		"It's the best part of Sunday: nobody calls.", "Never trust a study that ends with a sales pitch. Read it slowly.", "[Link in bio] for the recipe.", "Two years of warranty, twelve pounds, no fuss."},
	"de": {"Zum Fünften Dezember? Ja, am fünften Dezember endet es.", "Zehn Prozent Rabatt, zwei Jahre Garantie.", "Am Sonntag ist Ruhe.", "Wir sind mittwochs geöffnet, wie immer unter der Woche.", "Hundert Gründe, drei Tassen, ein Tisch.", "Die beste Idee kam beim Abwasch."},
	"es": {"Diez por ciento hasta el cinco de diciembre.", "Abrimos los miércoles, como siempre.", "Mil gracias, una vez más.", "El mejor momento del domingo es el silencio."},
	"fr": {"Dix pour cent jusqu'au cinq décembre.", "On vous attend mercredi.", "Mille mercis, encore une fois.", "Le meilleur moment du dimanche, c'est le silence."},
	"it": {"Dieci per cento fino al cinque dicembre.", "Vi aspettiamo mercoledì.", "Mille grazie, ancora una volta.", "La parte migliore della domenica è il silenzio."},
	"pt": {"Dez por cento até cinco de dezembro.", "Estamos abertos na quarta-feira.", "Mil vezes obrigado.", "A segunda xícara é sempre melhor."},
	"ru": {"Десять процентов до пятого декабря.", "Ждём вас в среду.", "Сто раз спасибо.", "Лучшее в воскресенье — тишина."},
	"uk": {"Десять відсотків до п'ятого грудня.", "Чекаємо на вас у середу.", "Сто разів дякуємо.", "Найкраще в неділю — тиша."},
	"pl": {"Dziesięć procent do piątego grudnia.", "Zapraszamy w środę.", "Sto razy dziękujemy.", "Najlepsze w niedzielę jest to, że cicho."},
	"tr": {"Beş Aralık'a kadar yüzde on indirim.", "Çarşamba günü bekleriz.", "Bin kere teşekkürler.", "Pazarın en güzel yanı sessizlik."},
	"ar": {"خصم عشرة بالمئة حتى الخامس من ديسمبر.", "ننتظركم يوم الثلاثاء.", "ألف شكر لكم.", "ضمان سنتين على كل شيء."},
	"he": {"עשרה אחוזים הנחה עד חמישה בדצמבר.", "מחכים לכם ביום שלישי.", "אלף תודות.", "הדבר הכי טוב בשבת הוא השקט."},
	"hi": {"पाँच दिसंबर तक दस प्रतिशत छूट।", "बुधवार को मिलते हैं।", "सौ बार धन्यवाद।", "दो साल की वारंटी।"},
	"ja": {"十二月五日まで一割引きです。", "水曜日にお待ちしています。", "百回でもありがとう。", "一番好きなのは静かな朝。"},
	"zh": {"十二月五日前九折。", "周三见，欢迎来。", "一百个谢谢。", "有一点点甜，三点建议：慢、慢、慢。"},
	"ko": {"십이월 오일까지 십 퍼센트 할인.", "수요일에 만나요.", "백 번 고마워요.", "공원 옆 작은 가게입니다."},
}

func TestClaimsInSixteenLanguages(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for language, cases := range faulty {
		r := guard.Rules{Language: language, Now: now, Facts: facts[language]}
		for _, c := range cases {
			found := guard.Check(caption(c[1]), r)
			if len(found) != 1 || found[0].Code != guard.Unsupported || found[0].Kind != c[0] {
				t.Errorf("%s: %s: %v, want the %s", language, c[1], found, c[0])
			}
		}
		for _, text := range clean[language] {
			if found := guard.Check(caption(text), r); len(found) > 0 {
				t.Errorf("%s: %s: %v", language, text, found)
			}
		}
	}
}
