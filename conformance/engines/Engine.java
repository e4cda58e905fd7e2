import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HexFormat;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Answers searches in Java: see patterns.py for what is asked. The first word of a question is the flags, a number. */
class Engine {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] parts = line.split("\t", -1);
            try {
                Matcher matcher = Pattern.compile(text(parts[1]), Integer.parseInt(parts[0])).matcher(text(parts[2]));
                StringJoiner found = new StringJoiner(" ");
                while (matcher.find()) {
                    found.add(matcher.start() + " " + matcher.end());
                }
                System.out.println(found);
            } catch (PatternSyntaxException error) {
                System.out.println("! " + error.getDescription());
            }
        }
    }

    private static String text(String hex) {
        return new String(HexFormat.of().parseHex(hex), UTF_8);
    }
}
