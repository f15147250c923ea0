package secrets

import (
	"strings"
	"sync"
)

// isVendor reports whether word is the name of a service that hands out keys.
func isVendor(word string) bool {
	makeVendors.Do(func() {
		vendors = map[string]bool{}
		for name := range strings.FieldsSeq(vendorNames) {
			vendors[name] = true
		}
	})
	return vendors[word] || vendors[strings.TrimSuffix(word, "api")]
}

var (
	vendors     map[string]bool
	makeVendors sync.Once
)

// vendorNames lists services that hand out keys. The sources are the names of the rules of
// github.com/mongodb/kingfisher (data/rules) and of the detectors of
// github.com/trufflesecurity/trufflehog (pkg/detectors), without words that programs use often.
const vendorNames = `
abuseipdb abyssale accuweather adafruitio adobe adobeio adzuna aeroworkflow agora airbrake airship
airtable airvisual aiven alchemy alconost alegra aletheia aletheiaapi algolia alibaba alienvault
allsports amadeus ambee amplitude anthropic anypoint apacta api2cart apideck apiflash apifonica
apify apilayer apimatic apimetrics apitemplate apollo appcues appfollow appointedd appoptics
appsynergy apptivo artifactory artifactoryreference artsy asana assemblyai atera atlassian
atlassiandatacenter audd auth0 autodesk autoklose autopilot avaza aviationstack axonaut aylien
ayrshare azure azureapimanagement azureapimanagementsubscription azureappconfig
azurecontainerregistry azuredevops azuredirectmanagement azurefunction azureopenai azuresas
azuresearch azuresearchquery azurestorage bannerbear baremetrics beamer beebole besnappy besttime
betterstack billomat bitbar bitbucket bitcoinaverage bitfinex bitly bitmex blazemeter blitapp
blocknative blogger blynk bombbomb boostnote borgbase box boxcom braintreepayments braintrust
brandfetch browserstack browshot bscscan buddyns budibase bugherd bugsnag buildkite bulbul bulksms
buttercms caflou calendarific calendly calorieninja campayn cannyio capsulecrm captaindata
carboninterface cashboard caspio censys centralstationcrm cexio chartmogul chatbot chatfule checio
checklyhq checkvist cicero circleci clarifai clearbit clickhelp clicksendsms clickup cliengo
clientary clinchpad clockify clockworksms close closecrm cloudconvert cloudelements cloudflare
cloudflareca cloudflareglobal cloudimage cloudinary cloudmersive cloudplan cloudsight cloudsmith
cloverly cloze clustdoc coda codacy codeclimate codemagic codequiry coin coinapi coinbase coinlayer
coinlib collect2 column commercejs companyhub confluent contentful conversiontools convert
convertapi convertkit convier copper couchbase countrylayer courier coveralls craftmypdf cratesio
crowdin cryptocompare currencycloud currencyfreaks currencylayer currencyscoop currents currentsapi
customerguru customerio d7network dailyco dandelion dareboost databox databricks datadog datagov
debounce deepai deepgram deepseek delighted demio deno dependencytrack deputy detectify
detectlanguage dfuse diffbot diggernaut digitalocean discord discordbot disqus ditto dnscheck
dockerhub docparser documo docusign doppler dotdigital dovico dronahq droneci dropbox duffel duply
dwolla dynalist dynatrace dyspatch eagleeyenetworks easyinsight easypost ecostruxureit edamam
edenai eightxeight elasticemail elevenlabs enablex endorlabs enigma envoy eraser etherscan
ethplorer eventbrite everhour exchangerate exchangerateapi exchangerates exchangeratesapi exportsdk
extractorapi facebook faceplusplus fastforex fastly feedier fetchrss fibery figma fileio finage
financialmodelingprep findl finicity finnhub fixerio flatio fleetbase flexport flickr flight
flightapi flightlabs flightstats float flowflu flutterwave flyio fmfw formbucket formcraft formio
formsite foursquare frameio freshbooks freshdesk front fulcrum fullstory fxmarket
gcpapplicationdefaultcredentials geckoboard gemini gengo geoapify geocode geocodify geocodio
geoipifi getemail getemails getgeo getgeoapi getgist getresponse getsandbox github githubapp gitlab
gitter glassnode gocanvas gocardless godaddy goodday googlegemini googleoauth2 grafana graphcms
graphhopper groovehq groq gtmetrix guardian guardianapi gumroad guru gyazo happyscribe harness
harvest hashicorpvault hashicorpvaultauth hasura hellosign helpcrunch helpscout hereapi heroku hive
hiveage holidayapi holistic honeycomb html2pdf hubspot huggingface humanity hunter hybiscus
hypertrack ibm ibmcloud iconfinder iexapis iexcloud imagekit imagga impala infura insightly
instabot instamojo intercom interseller intra42 intrinio invoiceocean ionic ip2location ipapi
ipgeolocation ipinfo ipinfodb ipquality ipstack jenkins jira jotform jumpcloud jupiterone juro
kanban kanbantool karmacrm keenio kickbox klaviyo klipfolio knapsackpro kontent kraken kucoin kylas
langfuse langsmith languagelayer larksuite launchdarkly leadfeeder lemlist lemonsqueezy lendflow
lessannoyingcrm lexigram line linear linearapi linemessaging linenotify linkedin linkpreview
liveagent livestorm loadmill lob locationiq loggly loginradius logzio lokalise loyverse lunchmoney
luno madkudu magicbell magnetic mailboxlayer mailchimp mailerlite mailgun mailjet mailjetsms
mailmodo mailsac mandrill mapbox mapquest marketstack mattermost mavenlink maxmindlicense
meaningcloud mediastack meistertask meraki mesibo messagebird meta metaapi metabase metrilo
microsoftteams mindmeister miro mite mixmax mixpanel mockaroo moderation monday monkeylearn
moonclerk moosend moralis mrticktock myfreshworks myintervals nasdaqdatalink netcore nethunt
netlify netsuite neutrino neutrinoapi newrelic newrelicbrowser newrelicinsights
newrelicinsightsinsert news newsapi newscatcher nexmo nftport ngc ngrok nicereply nightfall nimble
noticeable notion nozbeteams npm nuget numverify nutritionix nvapi nylas oanda octopusdeploy okta
omnisend onedesk onelogin onepagecrm onesignal onfleet oopspam openai openaiadmin opencagedata
openrouter openuv openvpn openweather opsgenie optimizely overloop owlbot packagecloud pagarme
pagerduty pandadoc pandascore paperform paralleldots parsehub parseur particleio partnerstack
pastebin paydirtapp paymoapp paymongo paypal paystack pdflayer pdfshift peopledatalabs pepipost
percy pganalyze photoroom phrase pinata pinecone pipedream pipedrive pivotaltracker pixabay plaid
planetscale planetscaledb planviewleankit planyo plivo podio pollsapi poloniex polygon portainer
positionstack postageapp postbacks posthog postman postmark powr powrbot prefect privacy prodpad
prospectcrm protocolsio proxycrawl pubnub pubnubpublish pubnubsubscription pulumi purestake
pushbullet pusherchannel pyowm pypi qase qualaroo qubole railwayapp ramp rapidapi raven rawg
razorpay reachmail readme reallysimplesystems rebrandly rechargepayments redhatpyxis refiner
rentman repairshopr replicate replyio requestfinance restpack restpackhtmltopdf
restpackhtmltopdfapi restpackscreenshot restpackscreenshotapi revai revampcrm ringcentral ritekit
roaring robinhoodcrypto rocketreach rockset rootly route4me rownd rubygems runrunit saladcloud
salesblink salescookie salesflare salesforce salesmate sanity satismeter saucelabs scaleway scalr
scrapeowl scraperapi scraperbox scrapestack scrapfly scrapingant scrapingbee screenshotapi
screenshotlayer scrutinizerci securitytrails segment selectpdf semaphore sendbird
sendbirdorganization sendbirdorganizationapi sendgrid sendinblue sentry serphouse serpstack sheety
sherpadesk shipday shippo shodan shopify shortcut shotstack shutterstock signable signalwire
signaturit signupgenius sigopt simfin simplesat simplynoted simvoly sinchmessage sirv siteleaf
skrappio skybiometry slack smartsheets smartystreets smooch snipcart snowflake snyk
solarwindsobservability sonarcloud sonarqube sourcegraph sourcegraphcody sparkpost spectralops
speechtextai splunk splunkobservability spoonacular sportsmonk spotify square squareapp squarespace
squareup sslmate stackhawk statuscake statuspage statuspal stitchdata stockdata storecove
stormboard stormglass storyblok storychief strava streak stripe stripepaymentintent stripo stytch
sugester sumologic supabase supernotes supernotesapi survey surveyanyplace surveybot surveysparrow
survicate swell swiftype tableau tailscale tallyfy tatumio taxjar teamgate teamworkcrm teamworkdesk
teamworkspaces technicalanalysis technicalanalysisapi tefter telegram telegrambot teletype telnyx
terraformcloud testingbot textmagic theodds theoddsapi thingsboard thinkific thousandeyes
ticketmaster tickettailor tiingo timecamp timezoneapi tines tmetric todoist toggltrack tokeet
tomorrowio tomtom tradier transferwise travelpayouts travisci trello truenas trufflehogenterprise
twelvedata twilio twist twitch twitter twitterconsumer twitterv1 tyntec typeform typetalk ubidots
uclassify unifyid unplugg unsplash upcdatabase uplead uploadcare uptimero uptimerobot upwave
urlscan userflow userstack vagrantcloud vatlayer vbout vercel verimail veriphone versioneye viewneo
virustotal visualcrossing voiceflow voicegain voodoosms vouchery vpnapi vultr vyte walkscore
weatherbit weatherstack web3storage webex webexbot webflow webscraper webscraping websitepulse
weightsandbiases wepay whoxy wistia worksnaps workstack worldcoinindex worldweather wrike yandex
yelp youneedabudget yousign youtube zapier zendesk zendeskapi zenkit zenkitapi zenrows zenscrape
zenserp zeplin zerobounce zerotier zipapi zipbooks zipcode zipcodeapi zipcodebase zohocrm
zonkafeedback zulipchat
`
