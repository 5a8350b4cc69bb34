package guard

import (
	"strings"
	"sync"
)

// measure is a unit: what it measures, and how many of the base unit it is.
type measure struct {
	of     string
	factor float64
}

// units are the words for units and for what is counted, in all languages: an input may be in another language than the
// answer.
var units = sync.OnceValue(func() lookup[measure] {
	return table[measure]{
		{"mass", 1e-3}: "mg milligram* миллиграмм* мг",
		{"mass", 1}: "g gr gram grams gramm gramos gramo gramme grammes grammi grammo gramas grama грамм* г гр 克" +
			" gram gramy gramów грам* غرام* جرام* גרם ग्राम グラム* 그램* กรัม",
		{"mass", 1e3}: "kg kilo kilos kilogram* kilogramm* kilogramo* kilogramme* chilo chili килограмм*" +
			" кг kilogramów 公斤" +
			" кілограм* كيلو* كغ קילו* किलो* キロ* 킬로* กิโล*",
		{"mass", 453.592}: "lb lbs",
		{"mass", 28.3495}: "oz ounce ounces",
		{"mass", 1e6}:     "tonne tonnes tonnen tonelada* тонн тонны тонна",

		{"length", 1e-3}: "mm millimet* milímetro* millimetr* миллиметр* мм",
		{"length", 1e-2}: "cm centimet* zentimeter* centímetro* centimetr* сантиметр* см" +
			" см santim* سم سنتيمتر* सेमी センチ* 센티*",
		{"length", 1}: "m meter meters metre metres metern metro metros mètre mètres metri metrów метр" +
			" метра метров м" +
			" метри metre متر* מטר* मीटर メートル* 미터*",
		{"length", 1e3}: "km kilomet* kilómetro* kilomètre* chilometr* quilómetro* километр* км" +
			" кілометр* kilometre* كيلومتر* किलोमीटर",
		{"length", .0254}: "inch inches zoll pulgada* pouce pouces pollici дюйм*",
		{"length", .3048}: "ft feet foot",
		{"length", 1609}:  "mile miles meile* milla millas миль мили миля",

		{"area", 1}: "m² m2 sqm quadratmeter* м² кв.м",

		{"volume", 1e-3}: "ml millilit* milliliter* mililitro* миллилитр* мл" +
			" мілілітр* مل मिली* ミリリットル* 밀리*",
		{"volume", 1e-2}: "cl centilit*",
		{"volume", 1}: "l liter liters litre litres litern litro litros litri литр* л litrów" +
			" літр* لتر* ליטר* लीटर リットル* 리터*",
		{"volume", 3.78}: "gallon gallons",

		{"time", 1}: "sec secs second seconds sek sekunde* segundo* seconde* secondi secondo секунд* сек 秒",
		{"time", 60}: "min mins minute* minuten minuto* minut минут* мин minutos minuti" +
			" хвилин* dakika* دقيقة دقائق דקות דקה मिनट 分* 分鐘* 분",
		{"time", 3600}: "h hr hrs hour hours std stunde* hora horas heure heures ora ore час часа часов" +
			" часам ч godzin* uur" +
			" годин* saat* ساعة ساعات שעות שעה घंटे घंटा 時間* 小时* 시간*",
		{"time", 86400}: "day days tag tage tagen día días jour jours giorno giorni dia dias день дня" +
			" дней дни dni dzień dagen" +
			" днів день doba gün günlük يوم يوما أيام ימים יום दिन दिनों 日間* 天* 일간*",
		{"time", 604800}: "week weeks woche* semana* semaine* settiman* недел* tygodni* weken" +
			" тижн* hafta* أسبوع* أسابيع שבועות שבוע हफ़्ते हफ्ते सप्ताह 週間* 주일*",
		{"time", 2629800}: "month months monat* mes meses mois mese mesi mês месяц* miesi* maand*" +
			" місяц* aylık شهر* أشهر חודש* महीने महीना ヶ月* か月* 个月* 개월* เดือน",
		{"time", 31557600}: "year years yr yrs jahr* año años an ans année années anno anni ano anos год" +
			" года лет году lat jaar" +
			" рік роки років року yıl* سنة سنوات عام أعوام שנה שנים שנות साल वर्ष 年* 년* năm ปี",

		{"speed", 1}:       "km/h kmh kph км/ч км/час",
		{"speed", 1.609}:   "mph",
		{"temperature", 1}: "°c °f ° grad celsius graus gradi degré degrés degree degrees градус*",
		{"data", 1}:        "mb мб",
		{"data", 1e3}:      "gb гб",
		{"data", 1e6}:      "tb тб",
		{"power", 1}:       "watt watts ватт w вт",
		{"power", 1e3}:     "kw квт",
		{"power", 735}:     "hp ps cv ch л.с",
		{"energy", 1}:      "kwh квтч wh mah мач",
		{"nutrition", 1}:   "kcal calorie* kalorien caloría* calorías калори* ккал",
		{"screen", 1}:      "mp megapixel* мп мегапиксел* px pixel* пиксел*",
		{"tension", 1}:     "volt v вольт",

		{"customers", 1}: "customer* client* kunde* kundin* cliente* клиент* покупател* clientes " +
			"shoppers buyers käufer* comprador* acheteur* klientów klanten" +
			" клієнт* покупц* müşteri* عميل عملاء زبون زبائن לקוחות ग्राहक* お客* 顧客* 顾客* 位顾客* 多位顾客* 位客户*" +
			" 多位客户* 多名顾客* 客户* 고객* 명의 khách ลูกค้า",
		{"people", 1}: "people person persons persona personas personnes personne personen menschen" +
			" leute gens persone pessoas " +
			"человек людей людям osób mensen" +
			" kişi* شخص* أشخاص אנשים लोग लोगों 人* 名* 多人* 명* คน",
		{"users", 1}: "user users nutzer* usuario* utilisateur* utent* usuário* пользовател* użytkownik* gebruiker*",
		{"followers", 1}: "follower* subscriber* abonnent* seguidor* suscriptor* abonné* iscritti" +
			" подписчик* obserwując* " +
			" volgers",
		{"reviews", 1}: "review reviews rating ratings bewertung* rezension* reseña* opinion* avis" +
			" recension* avaliações отзыв* " +
			"оценок opinii",
		{"stars", 1}: "star stars stern sterne sternen sternchen estrella* étoile* stelle estrela*" +
			" звезд* звёзд* gwiazd* sterren",
		{"countries", 1}: "country countries land länder ländern país* pays paesi стран страны странах" +
			" krajów krajach landen",
		{"stores", 1}: "store stores shop shops filiale* läden tienda* magasin* boutique* negozi lojas" +
			" магазин* sklep* " +
			"winkels location* standort*",
		{"awards", 1}:    "award awards preise auszeichnung* premio* prix premi prêmio* наград* приз nagród",
		{"studies", 1}:   "study studies studie* estudio* étude* studi исследован*",
		{"employees", 1}: "employee* mitarbeiter* empleado* employé* salarié* dipendent* сотрудник* pracownik*",
		{"experts", 1}: "expert experts experten experto* esperti эксперт* doctor* dentist* ärzte*" +
			" médico* médecin* врач* " +
			"dermatolog*",
		{"orders", 1}:    "order orders bestellung* pedido* commande* ordini заказ* zamówie*",
		{"downloads", 1}: "download* téléchargement* descarga* скачиван* загруз*",
		{"pieces", 1}: "piece pieces pcs stück pièce* pieza* unidades pezzi peças шт штук штуки предмет*" +
			" sztuk stuks artikel* " +
			"exemplar* экземпляр*",
		{"colors", 1}: "color colors colour colours farben color* colore* couleur* colori cores цвет" +
			" цвета цветов цветах kolorów",
		{"sizes", 1}:  "size sizes größen talla tallas taille* tailles taglie размер* rozmiar*",
		{"guests", 1}: "guest guests visitor* besucher* gäste* visitante* visiteur* ospiti гостей посетител* gości",
		{"students", 1}: "student* schüler* alumno* élève* étudiant* studenti студент* ученик*" +
			" teilnehmer* participant* участник*",
		{"patients", 1}: "patient* paciente* pazient* пациент*",
		{"members", 1}:  "member members mitglied* miembro* membre* membri участников członk* leden",
		{"cities", 1}:   "city cities städte* ciudad* ville* città городах городов miast",
		{"views", 1}:    "view views aufruf* vista* vue vues visualizzazion* просмотр* wyświetle*",
	}.index()
})

// percents are the words for a part of a hundred.
var percents = sync.OnceValue(func() lookup[bool] {
	return table[bool]{true: "percent per-cent pct prozent* procent* porcentaje* pourcent percento процент* проц" +
		" відсот* بالمئة بالمائة אחוז אחוזים प्रतिशत फ़ीसदी फीसदी パーセント* 퍼센트* 프로 เปอร์เซ็นต์"}.index()
})

// counted are the dimensions of what is counted, whose noun may follow an adjective.
func (m measure) counted() bool { return m.factor == 1 && !physical[m.of] }

var physical = map[string]bool{"mass": true, "length": true, "area": true, "volume": true, "time": true, "speed": true,
	"temperature": true, "data": true, "power": true, "energy": true, "nutrition": true, "screen": true,
	"tension": true}

// fewPeople is the number of people below which their number is a manner of speech.
const fewPeople = 10

// unitOf returns the unit that a word names. Single letters name units in their usual case only.
func unitOf(word string) (m measure, ok bool) {
	switch word {
	case "G", "M", "H", "K", "P":
		return m, false
	}
	return units().of(strings.Trim(strings.ToLower(word), ".-"))
}
